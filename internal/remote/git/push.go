package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// tries is how often a push begins again after somebody else's.
const tries = 8

// Swap implements remote.Remote. It makes one commit of the file and of what PutNew took for the
// same store, and pushes it with the commit that it stands on as the condition. What PutNew took
// for all stores goes in the same push.
func (r *Remote) Swap(ctx context.Context, name string, old, new []byte) error {
	if err := remote.CheckName(name); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return r.mending(ctx, func() error { return r.swap(ctx, name, old, new) })
}

func (r *Remote) swap(ctx context.Context, name string, old, new []byte) error {
	ref, path := place(name)
	for range tries {
		is, err := r.isStill(ctx, ref, path, old)
		if err != nil {
			return err
		}
		if !is {
			r.refs = nil
			if fresh, err := r.isStill(ctx, ref, path, old); err != nil || !fresh {
				return errors.Join(err, fmt.Errorf("%w: %s", remote.ErrStale, name))
			}
			continue
		}
		r.stage(name, new)
		moved, err := r.pushStaged(ctx, ref)
		delete(r.staged[ref], path)
		if err != nil {
			return err
		}
		if moved {
			delete(r.staged, ref)
			return nil
		}
		r.refs = nil // somebody was faster
	}
	return fmt.Errorf("%w: %s: others push all the time", remote.ErrStale, name)
}

// isStill fetches, and reports whether a file has this content.
func (r *Remote) isStill(ctx context.Context, ref, path string, want []byte) (bool, error) {
	if err := r.fetched(ctx); err != nil {
		return false, err
	}
	now, err := r.read(ctx, ref, path)
	return err == nil && (now != nil) == (want != nil) && bytes.Equal(now, want), err
}

// pushStaged pushes what is staged for a ref, and for the ref of what belongs to no store. moved is
// false if the remote refused the first: it has moved.
func (r *Remote) pushStaged(ctx context.Context, ref string) (moved bool, err error) {
	list := []string{ref}
	if ref != sharedRef && len(r.staged[sharedRef]) > 0 {
		list = append(list, sharedRef)
	}
	commits := lists.Map(list, func(one string) commit {
		return commit{ref: one, files: r.staged[one]}
	})
	result, err := r.send(ctx, commits)
	if err != nil {
		return false, err
	}
	if len(list) > 1 && result[sharedRef] == "" {
		delete(r.staged, sharedRef)
	} else if len(list) > 1 && result[ref] == "" {
		// Another store has made its own first: what is staged is there, or comes with the next push.
		r.refs = nil
		if err := r.restage(ctx); err != nil {
			return false, err
		}
	}
	return result[ref] == "", nil
}

// restage drops what is staged for all stores and is there already, and pushes the rest.
func (r *Remote) restage(ctx context.Context) error {
	if err := r.fetched(ctx); err != nil {
		return err
	}
	for path, data := range r.staged[sharedRef] {
		now, err := r.read(ctx, sharedRef, path)
		switch {
		case err != nil:
			return err
		case now != nil && !bytes.Equal(now, data):
			delete(r.staged[sharedRef], path)
			return fmt.Errorf("%w: %s", remote.ErrExists, path)
		case now != nil:
			delete(r.staged[sharedRef], path)
		}
	}
	if len(r.staged[sharedRef]) == 0 {
		return nil
	}
	moved, err := r.pushStaged(ctx, sharedRef)
	if err == nil && !moved {
		err = fmt.Errorf("%w: %s", remote.ErrStale, sharedRef)
	}
	return err
}

// commit is one that is to be made: on the commit that the ref has, with further files, or alone
// with all files that the tree has.
type commit struct {
	ref   string
	files map[string][]byte
	alone bool
}

// write writes the commit for fast-import, which answers with its id. It leaves no ref behind: two
// clients that work in one bare repository would push each other's commit, and both believe that it
// was their own.
func (r *Remote) write(in *bytes.Buffer, c commit) {
	const made = "refs/made"
	fmt.Fprintf(in, "commit %s\nmark :1\ncommitter ctx <ctx> %d +0000\ndata 0\n", made,
		r.c.Now().Unix())
	t := r.refs[c.ref]
	if t != nil && !c.alone {
		fmt.Fprintf(in, "from %s\n", t.commit)
	}
	if t != nil && c.alone {
		for _, path := range slices.Sorted(maps.Keys(t.blobs)) {
			fmt.Fprintf(in, "M 100644 %s %s\n", t.blobs[path], path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.files)) {
		fmt.Fprintf(in, "M 100644 inline %s\ndata %d\n", path, len(c.files[path]))
		in.Write(c.files[path])
		in.WriteByte('\n')
	}
	// The null id removes the ref, so that the next commit has no parent unless it names one.
	fmt.Fprintf(in, "\nget-mark :1\nreset %s\nfrom %040d\n\n", made, 0)
}

// build makes commits in the bare repository, and returns their ids.
func (r *Remote) build(ctx context.Context, commits []commit) (ids []string, err error) {
	var in bytes.Buffer
	for _, c := range commits {
		r.write(&in, c)
	}
	err = r.locked(ctx, func() error {
		out, err := r.git(ctx, &in, "fast-import", "--quiet", "--force")
		ids = strings.Fields(string(out))
		r.built = append(r.built, ids...)
		return err
	})
	if err == nil && len(ids) != len(commits) {
		err = fmt.Errorf("git fast-import made %d commits in the place of %d",
			len(ids), len(commits))
	}
	return ids, err
}

// send makes the commits and pushes them, each with what its ref had as the condition. The result
// has the reason for each ref that was refused, and "" for one that moved; the trees of those that
// moved are known from then on.
func (r *Remote) send(ctx context.Context, commits []commit) (map[string]string, error) {
	ids, err := r.build(ctx, commits)
	if err != nil {
		return nil, err
	}
	args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags",
		"--recurse-submodules=no"}
	for _, c := range commits {
		old := ""
		if t := r.refs[c.ref]; t != nil {
			old = t.commit
		}
		args = append(args, "--force-with-lease="+c.ref+":"+old)
	}
	args = append(args, "--", r.c.URL)
	for i, c := range commits {
		args = append(args, ids[i]+":"+c.ref)
	}
	grafts, err := r.grafts(commits, ids)
	if err != nil {
		return nil, err
	}
	r.sent = true
	out, failed := r.gitWith(ctx, nil, []string{"GIT_GRAFT_FILE=" + grafts}, args...)
	if grafts != "" {
		_ = r.c.FS.RemoveNoSync(grafts) // one that stays does no harm
	}
	result := map[string]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 {
			continue
		}
		_, ref, _ := strings.Cut(f[1], ":")
		result[ref] = ""
		if f[0] == "!" { // what the commit has may have been forgotten meanwhile
			result[ref], r.rewritten = withoutSecrets(f[2]), true
		}
	}
	for i, c := range commits {
		why, told := result[c.ref]
		if !told || why != "" && !isRace(why) {
			if failed == nil || told {
				failed = fmt.Errorf("git push: %s: %s", c.ref, why)
			}
			return nil, failed
		}
		if why == "" {
			r.refs[c.ref] = &tree{commit: ids[i]}
		}
	}
	return result, nil
}

// grafts writes a file of grafts for git, which tells it that a commit without a parent has the
// ref's old commit as one. The remote has that commit and all its files, but git asks only parents
// what the other side has: without the file it sends all of the store again. A git that knows no
// grafts does so. The name is "" if there is nothing to tell.
func (r *Remote) grafts(commits []commit, ids []string) (name string, err error) {
	var lines bytes.Buffer
	for i, c := range commits {
		if t := r.refs[c.ref]; c.alone && t != nil {
			fmt.Fprintf(&lines, "%s %s\n", ids[i], t.commit)
		}
	}
	if lines.Len() == 0 {
		return "", nil
	}
	name = filepath.Join(r.c.Bare, "grafts-"+ids[0])
	return name, r.c.FS.WriteNoSync(name, lines.Bytes())
}

// isRace reports whether a refusal says that the ref is not what it was.
func isRace(why string) bool {
	return slices.ContainsFunc([]string{"stale info", "fetch first", "non-fast-forward",
		"cannot lock ref", "already exists", "failed to update ref", "incorrect old value",
		"reference already exists", "failed to lock"}, func(word string) bool {
		return strings.Contains(why, word)
	})
}

// Delete implements remote.Remote. The ref gets a commit without a parent, so that the repository
// has no way to what was deleted, and drops it when it next collects garbage.
func (r *Remote) Delete(ctx context.Context, names []string) error {
	byRef := map[string][]string{}
	for _, name := range names {
		if err := remote.CheckName(name); err != nil {
			return err
		}
		ref, path := place(name)
		delete(r.staged[ref], path)
		byRef[ref] = append(byRef[ref], path)
	}
	for ref, paths := range byRef {
		if err := r.mending(ctx,
			func() error { return r.deleteFrom(ctx, ref, paths) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *Remote) deleteFrom(ctx context.Context, ref string, paths []string) error {
	for range tries {
		if err := r.fetched(ctx); err != nil {
			return err
		}
		t := r.refs[ref]
		if t == nil {
			return nil
		}
		if err := r.load(ctx, t); err != nil {
			return err
		}
		some := false
		for _, path := range paths {
			_, there := t.blobs[path]
			some = some || there
			delete(t.blobs, path)
		}
		if !some {
			return nil
		}
		result, err := r.send(ctx, []commit{{ref: ref, alone: true}})
		if err != nil {
			r.refs = nil
			return err
		}
		if result[ref] == "" {
			r.deleted[ref] = r.refs[ref].commit
			return nil
		}
		r.refs = nil
	}
	return fmt.Errorf("%w: %s: others push all the time", remote.ErrStale, ref)
}
