// Package objects keeps objects by their ids, in the log and in packs, with one way in that checks
// and one way out that verifies.
package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// Store is the object store of one store directory. Its methods may be called from several
// goroutines. It keeps the indexes it has looked into open; Close lets go of them.
type Store struct {
	// Now is the clock that gives a pack its new time when Put finds it there.
	// Open sets it to time.Now; a caller that pins the clock sets it before the first Put.
	Now func() time.Time

	// ReadLog reads the log of operations and calls SetLogged with what it carries. Look-ups that
	// miss an object call it before they say so. It is nil for a store without a log.
	ReadLog func() error

	// MendLog calls SetLogged if the log carries objects that are damaged, and if it can be told what
	// they were. Reads call it before they say that an object is missing or damaged. It may be nil.
	MendLog func() error

	// Key returns the key that the nonces of bodies are derived from, so that a pack need not store
	// them. Where it is nil, or there is no key, packs store nonces.
	Key func() ([]byte, error)

	root    string // the store's directory; objects/ and absent/ are in it
	fs      *durable.FS
	codec   codec
	cache   blockCache
	filter  sourceFilter
	locator locator

	mu     sync.Mutex
	packs  *packList // as last listed; nil before the first time
	logged logged
	recent *pack // where the last object was found; the next is likely there too
	names  Names // see Lend
}

// Open returns the object store of the store in directory root (objects are under root/objects).
// It does no I/O: a root without a store shows at the first call.
func Open(root string, fs *durable.FS) *Store {
	return &Store{Now: time.Now, root: root, fs: fs}
}

// Init makes the directories of an object store under root, which exists: objects/ and
// objects/pack. Both survive a power cut once it returns. Directories that exist stay; after a
// crash it can be run again.
func Init(root string, fs *durable.FS) error {
	top := filepath.Join(root, Dir)
	for _, dir := range []string{top, filepath.Join(top, packFolder)} {
		if err := mkdir(fs, dir); err != nil {
			return fmt.Errorf("cannot make the object store: %w", err)
		}
	}
	if err := fs.SyncDirs([]string{top, root}); err != nil {
		return fmt.Errorf("cannot make the object store: %w", err)
	}
	return nil
}

func mkdir(fsys *durable.FS, dir string) error {
	err := fsys.Mkdir(dir)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Close closes the indexes that are open. The store may be used again: it opens them again.
func (s *Store) Close() error {
	s.mu.Lock()
	list := s.packs
	s.packs, s.recent = nil, nil
	s.mu.Unlock()
	if list == nil {
		return nil
	}
	var errs []error
	for _, p := range list.packs {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}
