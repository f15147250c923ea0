// Package git is a remote that is a git repository: any that git can push to. It runs the program
// git, so that URLs, keys and proxies are those that the user has set up for it, in a bare
// repository of its own. It never touches a repository of the user's.
//
// Each store has one ref, refs/ctx/STORE, whose commit has the store's files as its tree. A ref a
// store, and not one a session: every push of code to the same repository is told all refs, and
// 30,000 of them cost it a second.
//
// Begin to read at Open; copy.go keeps the bare repository and packs it, snapshot.go reads what was
// fetched, push.go writes, run.go runs git and limits what it takes.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/lock"
)

// Config says where a remote is, and where its copy is kept.
type Config struct {
	URL  string // as git takes it
	Bare string // the directory of the bare repository; made if it is missing, and may be removed
	Now  func() time.Time

	FS    *durable.FS
	Owner lock.Owner // tells other processes of this store who changes the copy

	MaxCopy  int64         // the most bytes of the copy's objects; 0 for 20 GiB
	MaxStill time.Duration // how long a fetch may bring nothing; 0 for ten minutes
}

// Remote is a git repository as a remote. Open makes it.
type Remote struct {
	c    Config
	open context.Context  // of Open; it also ends what Close does
	refs map[string]*tree // by name, as fetched; nil before the first fetch
	cat  *catFile         // reads objects; nil before it is needed
	env  []string         // of git; nil before it is needed

	sent  bool     // whether a push has begun in this call
	built []string // commits that this call has made
	mends int      // how often the copy was mended, or made anew
	// Whether a history was replaced, here or by another store, or a commit was refused, and what was
	// in it is to be gone
	rewritten bool
	// By ref, the commit that took the place of one with deleted files
	deleted map[string]string

	staged map[string]map[string][]byte // by ref and path: what PutNew took
}

// Open returns the remote at a URL. It asks the URL nothing yet. Once ctx is done, Close does not
// take time for the copy. Errors: a URL that is no place but
// a program or a flag; that there is no git; those of the file system.
func Open(ctx context.Context, c Config) (*Remote, error) {
	if strings.HasPrefix(c.URL, "-") || strings.HasPrefix(c.URL, "ext::") ||
		strings.ContainsAny(c.URL, "\n\x00") {
		return nil, errors.New("the URL is not one of a git repository")
	}
	r := &Remote{c: c, open: ctx, staged: map[string]map[string][]byte{},
		deleted: map[string]string{}}
	return r, r.make(ctx)
}

// refPrefix begins the names of the refs on the repository, and of their copies in the bare one.
const refPrefix = "refs/ctx/"

// sharedRef has the files that belong to no store. No store has this name: theirs have digits.
const sharedRef = refPrefix + "shared"

// place returns the ref and the path in its tree of a file.
func place(name string) (ref, path string) {
	top, rest, _ := strings.Cut(name, "/")
	store, path, deeper := strings.Cut(rest, "/")
	switch {
	case top == "stores" && deeper && store != "shared":
		return refPrefix + store, path
	case top == "heads" && rest != "" && !deeper && rest != "shared":
		return refPrefix + rest, headPath
	}
	return sharedRef, name
}

// headPath is the path of the file heads/STORE in the tree of the store. No name of a file of
// stores/STORE is in upper case.
const headPath = "HEAD"

// nameOf is the inverse of place.
func nameOf(ref, path string) string {
	store := strings.TrimPrefix(ref, refPrefix)
	switch {
	case ref == sharedRef:
		return path
	case path == headPath:
		return "heads/" + store
	}
	return "stores/" + store + "/" + path
}

// List implements remote.Remote. The tag of a file is the id of its blob.
func (r *Remote) List(ctx context.Context, prefix string) (files []remote.File, err error) {
	err = r.mending(ctx, func() error {
		files, err = r.list(ctx, prefix)
		return err
	})
	return files, err
}

func (r *Remote) list(ctx context.Context, prefix string) ([]remote.File, error) {
	if err := r.fetched(ctx); err != nil {
		return nil, err
	}
	var files []remote.File
	for ref, t := range r.refs {
		if !r.mayHold(ref, prefix) {
			continue
		}
		if err := r.load(ctx, t); err != nil {
			return nil, err
		}
		for path, blob := range t.blobs {
			name := nameOf(ref, path)
			if !strings.HasPrefix(name, prefix) || remote.CheckName(name) != nil {
				continue
			}
			size, err := r.size(ctx, blob)
			if err != nil {
				return nil, err
			}
			files = append(files, remote.File{Name: name, Size: size, Tag: blob})
		}
	}
	slices.SortFunc(files, func(a, b remote.File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// mayHold reports whether a ref can have files whose names begin with prefix.
func (r *Remote) mayHold(ref, prefix string) bool {
	rest, ok := strings.CutPrefix(prefix, "stores/")
	store, _, deeper := strings.Cut(rest, "/")
	return !ok || !deeper || ref == refPrefix+store || ref == sharedRef
}

// Get implements remote.Remote.
func (r *Remote) Get(ctx context.Context, name string) ([]byte, error) {
	if err := remote.CheckName(name); err != nil {
		return nil, err
	}
	ref, path := place(name)
	b, ok := r.staged[ref][path]
	if !ok {
		err := r.mending(ctx, func() (err error) {
			if err = r.fetched(ctx); err == nil {
				b, err = r.read(ctx, ref, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, fmt.Errorf("%w: %s", remote.ErrNotFound, name)
		}
	}
	return bytes.Clone(b), nil
}

// read returns the file at a path of a ref as it was fetched; nil for none.
func (r *Remote) read(ctx context.Context, ref, path string) ([]byte, error) {
	t := r.refs[ref]
	if t == nil {
		return nil, nil
	}
	if err := r.load(ctx, t); err != nil {
		return nil, err
	}
	blob, ok := t.blobs[path]
	if !ok {
		return nil, nil
	}
	return r.blob(ctx, blob)
}

// PutNew implements remote.Remote. The file is sent with the next Swap.
func (r *Remote) PutNew(ctx context.Context, name string, data []byte) error {
	if len(data) > remote.MaxFile {
		return fmt.Errorf("%s: %d bytes, a remote has files of %d at most", name, len(data),
			remote.MaxFile)
	}
	switch old, err := r.Get(ctx, name); {
	case err == nil && bytes.Equal(old, data):
		return nil
	case err == nil:
		return fmt.Errorf("%w: %s", remote.ErrExists, name)
	case !errors.Is(err, remote.ErrNotFound):
		return err
	}
	r.stage(name, data)
	return nil
}

func (r *Remote) stage(name string, data []byte) {
	ref, path := place(name)
	if r.staged[ref] == nil {
		r.staged[ref] = map[string][]byte{}
	}
	r.staged[ref][path] = bytes.Clone(data)
}

// leave moves the refs of the copy on from what was deleted, which the copy has fetched: just
// before it goes. After a stop before that the next fetch finds a history that was replaced, and
// after it the mark of a fetch.
func (r *Remote) leave() {
	for ref, commit := range r.deleted {
		_ = r.locked(r.open, func() error {
			_, err := r.mark()
			if err == nil {
				_, err = r.git(r.open, nil, "update-ref", ref, commit)
			}
			return err
		})
		r.rewritten = true
	}
}

// Close implements remote.Remote. It packs the copy if that pays: after all that the caller wanted.
func (r *Remote) Close() error {
	r.staged = map[string]map[string][]byte{}
	r.stopCat()
	r.leave()
	if r.rewritten {
		r.prune(r.open)
	}
	r.pack(r.open)
	return nil
}
