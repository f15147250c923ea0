package storedir

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/store"
)

// Destroy removes a store with all that was ever said in it. Under the lock the directory first
// takes another name beside its place, for good, and is then emptied: a crash leaves the store as
// it was, or no store, and a directory that the next destroy, or the gc of a new store in the same
// place, clears away. s must not be used afterwards.
func Destroy(ctx context.Context, s *store.Opened) error {
	aside := filepath.Join(filepath.Dir(s.Dir), AsidePrefix+s.ID)
	held, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(s.Close(), RemoveTree(s.FS, aside))
	if err == nil {
		err = s.FS.Rename(s.Dir, aside)
	}
	release := held.Release()
	if err != nil && release == nil {
		// Some systems do not rename a directory while a file in it is open, and the lock is one.
		err = s.FS.Rename(s.Dir, aside)
	}
	if err == nil {
		err = s.FS.SyncDir(filepath.Dir(aside))
	}
	if err == nil {
		err = RemoveTree(s.FS, aside)
	}
	if err != nil {
		return fmt.Errorf("cannot remove store %q: %w", s.Dir, err)
	}
	return release
}
