// Package objects keeps objects by their ids, in the log and in packs, with one way in that checks
// and one way out that verifies.
package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
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
	codec   packs.Codec
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
func Init(root string, fsys *durable.FS) error {
	top := filepath.Join(root, Dir)
	for _, dir := range []string{top, filepath.Join(top, packFolder)} {
		if err := fsys.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("cannot make the object store: %w", err)
		}
	}
	if err := fsys.SyncDirs([]string{top, root}); err != nil {
		return fmt.Errorf("cannot make the object store: %w", err)
	}
	return nil
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

// Put stores objects. Each is checked first, and nothing is written if one fails: a header that is
// none, a body that does not match, a body that is missing without a record in absent/, a forgotten
// body that would come back (*GoneError).
//
// When Put returns nil, every object is there after a power cut, in one new pack, and is as new as
// anything gc spares. What of a batch is stored already is stored again: that costs bytes until the
// next gc, and to look into every pack would cost time. After an error or a crash all of the
// objects may be there, or none.
func (s *Store) Put(raws ...format.Raw) error {
	in := &gate{Store: s}
	for _, r := range raws {
		if err := in.admit(r.ID(), r); err != nil {
			return err
		}
	}
	raws, ids := Distinct(raws)
	if len(ids) == 0 {
		return nil
	}
	if _, err := s.writePackOf(ids, raws); err != nil {
		return err
	}
	return s.found(ids, raws)
}

// Distinct returns the objects of a list without those that come again, and their ids.
func Distinct(raws []format.Raw) ([]format.Raw, []format.ID) {
	ids := make([]format.ID, 0, len(raws))
	seen := make(map[format.ID]bool, len(raws))
	raws = slices.DeleteFunc(slices.Clone(raws), func(r format.Raw) bool {
		id := r.ID()
		if seen[id] {
			return true
		}
		seen[id] = true
		ids = append(ids, id)
		return false
	})
	return raws, ids
}

// found takes away the records of bodies that were lost and are stored now.
func (s *Store) found(ids []format.ID, raws []format.Raw) error {
	if none, err := s.NothingGone(); none || err != nil {
		return err
	}
	for i, id := range ids {
		if complete, err := soundPacked(raws[i]); !complete || err != nil {
			continue
		}
		if _, gone, err := s.gone(id); err != nil || !gone {
			continue
		}
		if err := s.fs.RemoveDurable(s.AbsentPath(id)); err != nil {
			return fmt.Errorf("cannot store object %v: %w", id, err)
		}
	}
	return nil
}

// writePackOf writes objects that are admitted as one pack.
func (s *Store) writePackOf(ids []format.ID, raws []format.Raw) (PackInfo, error) {
	return s.writePackWhen(func(w *packWriter) error {
		for i, id := range ids {
			if err := w.add(id, raws[i]); err != nil {
				return err
			}
		}
		return nil
	}, Fast, nil)
}

// ErrNotFound is wrapped by the error for an object that is in no place of the store.
var ErrNotFound = errors.New("object not found")

// CorruptError says that what is stored for an id is not what the id names. ID is zero where a
// whole file is meant.
type CorruptError struct {
	ID   format.ID
	Path string // the file it was read from
	Why  string
}

func (e *CorruptError) Error() string {
	if e.ID.IsZero() {
		return fmt.Sprintf("corrupt: %q: %s", e.Path, e.Why)
	}
	return fmt.Sprintf("object %v is corrupt: %q: %s", e.ID, e.Path, e.Why)
}

// GoneError says that the object's body was forgotten: a record in absent/ says so. Get returns
// the header with it; Put returns it for an object that would bring the body back.
type GoneError struct {
	ID     format.ID
	Reason string // as the record has it
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("object %v is gone: %s", e.ID, e.Reason)
}

// IsGone reports whether an error is a *GoneError.
func IsGone(err error) bool { return errors.As(err, new(*GoneError)) }

// notFile makes damage of what the file system says of a name that something else than a file has.
func notFile(path string, err error) error {
	if errors.Is(err, durable.ErrNotFile) {
		return &CorruptError{Path: path, Why: "is not a regular file"}
	}
	return err
}

// vanished reports whether a file went away, or was closed, while it was looked at: the packs have
// to be listed again.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed)
}
