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
	if err := errors.Join(r.stopCat(), os.MkdirAll(r.c.Bare, 0o700)); err != nil {
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
	if err := r.stopCat(); err != nil {
		return false, err
	}
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
func (r *Remote) lockedFor(
	ctx context.Context, timeout time.Duration, do func() error,
) (err error) {
	held, err := lock.Acquire(ctx, r.c.FS, r.c.Bare, timeout, r.c.Owner)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return do()
}
