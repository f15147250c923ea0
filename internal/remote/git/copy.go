package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/lock"
)

// lockTimeout is how long a client waits for another that fetches into the same bare repository.
const lockTimeout = 10 * time.Minute

// makeTries is how often make tries: what a forget beside it takes away, it makes again.
const makeTries = 3

// make makes the bare repository if it is not there. A forget removes it in the middle of a pull,
// because it may hold what was forgotten, and its lock with it.
func (r *Remote) make(ctx context.Context) (err error) {
	for range makeTries {
		if err = r.makeOnce(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

func (r *Remote) makeOnce(ctx context.Context) error {
	if r.isMade() {
		return nil
	}
	r.refs = nil
	r.stopCat()
	if err := os.MkdirAll(r.c.Bare, 0o700); err != nil {
		return err
	}
	return r.locked(ctx, func() error {
		if r.isMade() {
			return nil // another process was faster
		}
		return r.init(ctx)
	})
}

// init makes the bare repository in the place of what a git that was killed has left of one: with
// its locks, git would not go on.
func (r *Remote) init(ctx context.Context) error {
	if err := r.empty(); err != nil {
		return err
	}
	_, err := r.git(ctx, nil, "init", "--quiet", "--bare", "--template=", r.c.Bare)
	return err
}

// isMade reports whether git has made the bare repository, and did not stop halfway: objects/info
// is the last directory that it makes. A copy with other settings than git makes came with a store
// from elsewhere: its settings could name programs, which git would run.
func (r *Remote) isMade() bool {
	for _, name := range []string{"HEAD", "objects/info"} {
		if _, err := os.Stat(filepath.Join(r.c.Bare, filepath.FromSlash(name))); err != nil {
			return false
		}
	}
	b, err := durable.ReadAtMost(filepath.Join(r.c.Bare, "config"), maxConfig)
	return err == nil && isMadeConfig(b)
}

// maxConfig is how many bytes the settings of a copy have at most.
const maxConfig = 4096

// isMadeConfig reports whether settings are such as `git init` writes: switches, and the forms of
// ids and refs.
func isMadeConfig(b []byte) bool {
	for line := range strings.Lines(string(b)) {
		switch _, value, _ := strings.Cut(line, " = "); strings.TrimSuffix(value, "\n") {
		case "true", "false", "0", "1", "sha1", "sha256", "files", "reftable":
		default:
			if line != "[core]\n" && line != "[extensions]\n" {
				return false
			}
		}
	}
	return len(b) > 0
}

// mending runs do, which reads or writes the remote by way of the copy. If do fails because the
// copy is damaged, as a stop of the machine or a killed git leaves it, or gone, as after a forget,
// the copy is made anew and do runs again. It does so, too, where all is well by now: a forget
// empties folders in which git is about to write. Damage is mended once; a copy may go several
// times. If a push has begun, which may have arrived, the error is remote.ErrStale: the caller
// looks at what the remote has now.
func (r *Remote) mending(ctx context.Context, do func() error) error {
	for {
		r.sent, r.built = false, nil
		same, _ := r.still()
		err := do()
		if err == nil || ctx.Err() != nil || isAnswer(err) {
			return err
		}
		gone := !same()
		if r.mends > 0 && !gone || r.mends == maxMends {
			return err
		}
		changed, failed := r.mend(ctx)
		if failed != nil || !changed && !gone && r.sent {
			return err // the reason is elsewhere
		}
		r.mends++
		if r.sent {
			return fmt.Errorf("%w: %w", remote.ErrStale, err)
		}
	}
}

// maxMends is how often a copy is made anew for one Remote.
const maxMends = 4

// isAnswer reports whether an error is what the remote has to say, or why it says nothing, so that
// the copy has no part in it. A look at a large copy takes minutes.
func isAnswer(err error) bool {
	var f *failed
	if errors.As(err, &f) && f.away || errors.Is(err, errBound) {
		return true
	}
	return errors.Is(err, remote.ErrNotFound) || errors.Is(err, remote.ErrExists) ||
		errors.Is(err, remote.ErrStale)
}

// mend removes what a killed git has left locked, and makes the copy anew if an object or a ref in
// it is damaged. changed is false if there was nothing to mend: neither now, nor by another process
// since this one last fetched, or made commits.
func (r *Remote) mend(ctx context.Context) (changed bool, err error) {
	r.stopCat()
	known := r.built
	for _, t := range r.refs {
		known = append(known, t.commit)
	}
	r.refs = nil
	if err := r.make(ctx); err != nil {
		return false, err
	}
	err = r.locked(ctx, func() error {
		if changed, err = r.unlock(); err != nil {
			return err
		}
		_, failed := r.git(ctx, nil, "fsck", "--no-progress", "--no-dangling")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case failed == nil && r.has(ctx, known):
			return nil
		case failed == nil: // another process has made it anew
			changed = true
			return nil
		}
		changed = true
		return r.init(ctx)
	})
	return changed, err
}

// has reports whether the copy has commits.
func (r *Remote) has(ctx context.Context, commits []string) bool {
	out, err := r.git(ctx, strings.NewReader(strings.Join(commits, "\n")), "cat-file",
		"--batch-check")
	return err == nil && !bytes.Contains(out, []byte(" missing\n"))
}

// unlock removes the files by which one git keeps others from changing the bare repository. None is
// running: this process has the lock of the copy.
func (r *Remote) unlock() (some bool, err error) {
	err = filepath.WalkDir(r.c.Bare, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".lock") {
			return err
		}
		some = true
		return r.c.FS.Remove(path)
	})
	return some, errors.Join(err, r.removeUnfinished())
}

// empty removes all that is in the directory of the bare repository, but for the lock that this
// process has.
func (r *Remote) empty() error {
	files, err := os.ReadDir(r.c.Bare)
	for _, f := range files {
		if f.Name() != "lock" && f.Name() != "lock.owner" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.c.Bare, f.Name())))
		}
	}
	return err
}

// locked runs do while no other process of this store changes the bare repository. There may be
// several: each agent's hook is one. A push goes without the lock, because it only reads.
func (r *Remote) locked(ctx context.Context, do func() error) error {
	return r.lockedFor(ctx, lockTimeout, do)
}

// lockedFor is locked, and waits no longer than a time for others.
func (r *Remote) lockedFor(ctx context.Context, timeout time.Duration, do func() error) error {
	return lock.With(ctx, r.c.FS, r.c.Bare, timeout, r.c.Owner, do)
}

// When the copy is packed, and for how long. A push makes about seven objects, each a file that
// takes a block of the disk, and git looks through all packs for each object.
const (
	manyLoose = 1024
	manyPacks = 50 // as git itself has it
	packTime  = 20 * time.Second
	// packAgain is when a packing that did not end is tried again, so that one that never ends in
	// time holds up a push a day, and not each.
	packAgain = 24 * time.Hour
	// pruneAge is how old an object is that no ref names before it is removed. A push may have made
	// it and not have sent it yet, and takes maxRun at most.
	pruneAge = "1.day.ago"
)

// packingName is the file in the copy that says when a packing began, until it ends well.
const packingName = "packing"

// fetchedName is the file in the copy that says that a fetch began, of which nobody has seen yet
// whether a history was replaced by it, or that what was replaced is still to be pruned.
const fetchedName = "fetched"

// mark writes the file before a fetch, and returns what removes it again. If it is there already,
// an earlier run was stopped after its fetch had moved the refs, or another one is at work: this
// run cannot see what they were, and prunes. The caller has the lock of the copy.
func (r *Remote) mark() (unmark func() error, err error) {
	path := filepath.Join(r.c.Bare, fetchedName)
	if _, err := os.Stat(path); err == nil {
		r.rewritten = true
	}
	mine := fmt.Appendf(nil, "%d %d\n", r.c.Owner.PID, r.c.Now().UnixNano())
	unmark = func() error {
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, mine) {
			return nil //nolint:nilerr // another run has removed it, or needs it still
		}
		return r.c.FS.RemoveNoSync(path)
	}
	return unmark, r.c.FS.WriteNoSync(path, mine)
}

// pack packs loose objects and small packs of the copy, if there are many. It keeps every object,
// so another process can push meanwhile. Where it fails, or another process works on the copy,
// nothing is lost but the space: the push that came before has succeeded.
func (r *Remote) pack(ctx context.Context) {
	if ctx.Err() != nil || !r.hasMany() || r.isPacking() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, packTime)
	defer cancel()
	_ = r.lockedFor(ctx, 0, func() error {
		path := filepath.Join(r.c.Bare, packingName)
		if err := r.c.FS.WriteNoSync(path,
			[]byte(r.c.Now().UTC().Format(time.RFC3339)+"\n")); err != nil {
			return err
		}
		// Each pack is then at least twice as large as the next one, so that an object is written
		// again a few times only, however many pushes follow.
		if _, err := r.git(ctx, nil, "repack", "--geometric=2", "-d", "-q",
			"--no-write-bitmap-index"); err != nil {
			return err
		}
		return r.c.FS.RemoveNoSync(path)
	})
}

// prune removes from the copy what the remote has no more, at once: it may be words that were
// forgotten. Another process that has made a commit and not sent it yet has to push again. Where it
// fails, Collect does it a day later.
func (r *Remote) prune(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, packTime)
	defer cancel()
	_ = r.lockedFor(ctx, 0, func() error {
		if _, err := r.git(ctx, nil, "gc", "--quiet", "--prune=now"); err != nil {
			return err
		}
		err := r.c.FS.RemoveNoSync(filepath.Join(r.c.Bare, fetchedName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// hasMany reports whether the copy has many loose objects or packs. As the ids of objects are
// random, it looks into one of 256 folders, as git does.
func (r *Remote) hasMany() bool {
	objects := filepath.Join(r.c.Bare, "objects")
	loose, err := os.ReadDir(filepath.Join(objects, "17"))
	if err == nil && 256*len(loose) > manyLoose {
		return true
	}
	packs, err := os.ReadDir(filepath.Join(objects, "pack"))
	return err == nil && len(packs) > 2*manyPacks // each has an index beside it
}

// isPacking reports whether a packing has begun less than packAgain ago and did not end well.
func (r *Remote) isPacking() bool {
	b, err := os.ReadFile(filepath.Join(r.c.Bare, packingName))
	if err != nil {
		return false
	}
	began, err := time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	age := r.c.Now().Sub(began)
	return err == nil && age >= 0 && age < packAgain
}

// Collect packs all of the copy at c.Bare, and removes what the remote has no more. It does nothing
// where there is no copy, or while another process works on it. c.URL is not asked. Errors: those
// of git and of the file system.
func Collect(ctx context.Context, c Config) error {
	r := &Remote{c: c}
	if !r.isMade() {
		return nil
	}
	err := r.lockedFor(ctx, 0, func() error {
		_, err := r.git(ctx, nil, "gc", "--quiet", "--prune="+pruneAge)
		return err
	})
	if errors.As(err, new(*lock.BusyError)) {
		return nil
	}
	return err
}
