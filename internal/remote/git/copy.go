package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/lock"
)

// lockTimeout is how long a client waits for another that fetches into the same bare repository.
const lockTimeout = 10 * time.Minute

// make makes the bare repository if it is not there. A forget removes it in the middle of a pull,
// because it may hold what was forgotten.
func (r *Remote) make(ctx context.Context) error {
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

func (r *Remote) init(ctx context.Context) error {
	_, err := r.git(ctx, nil, "init", "--quiet", "--bare", "--template=", r.c.Bare)
	return err
}

// isMade reports whether git has made the bare repository, and did not stop halfway: objects/info
// is the last directory that it makes.
func (r *Remote) isMade() bool {
	for _, name := range []string{"HEAD", "config", "objects/info"} {
		if _, err := os.Stat(filepath.Join(r.c.Bare, filepath.FromSlash(name))); err != nil {
			return false
		}
	}
	return true
}

// locked runs do while no other process of this store changes the bare repository. There may be
// several: each agent's hook is one. A push goes without the lock, because it only reads.
func (r *Remote) locked(ctx context.Context, do func() error) (err error) {
	held, err := lock.Acquire(ctx, r.c.FS, r.c.Bare, lockTimeout, r.c.Owner)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return do()
}
