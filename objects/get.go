package objects

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gemini-ctx/ctx/format"
)

// Get returns the object id. What it returns was checked against the id and against the digest of
// the body; a copy that fails is passed over if there is another. Of an object that a repair has
// given up the header is the one that stands for it. The bytes belong to the caller.
// Errors: ErrNotFound; *GoneError, with the header in the Raw, for a forgotten body;
// *CorruptError; what the file system says.
func (s *Store) Get(id format.ID) (format.Raw, error) {
	t := &search{id: id, body: true}
	if err := s.run(t); err != nil {
		return format.Raw{}, err
	}
	if t.complete {
		return t.best, nil
	}
	reason, gone, err := s.gone(id)
	switch {
	case err != nil:
		return format.Raw{}, err
	case gone:
		return t.best, &GoneError{ID: id, Reason: reason}
	case t.fault != nil:
		return format.Raw{}, t.fault
	}
	return format.Raw{}, &CorruptError{ID: id, Path: t.path, Why: "body is missing"}
}

// Header returns the header of the object id, checked against the id. Errors as Get, but for
// *GoneError: a header stays when its body is forgotten.
func (s *Store) Header(id format.ID) ([]byte, error) {
	t := &search{id: id}
	if err := s.run(t); err != nil {
		return nil, err
	}
	return t.best.Header, nil
}

// search is one look for an object in all its places.
type search struct {
	id   format.ID
	body bool // wanted

	complete bool       // best is all that is wanted
	best     format.Raw // the best so far; Header is nil before the first
	path     string     // of best
	fault    error      // the first thing wrong with a place that should have had it
}

// run looks in every place until the object is complete: in the log as it was last read, and in the
// packs. It fails if not even a header was found.
//
// Under a reader, objects move from the log into packs, and from pack to pack. So a miss counts
// only after the log was read again and the list of packs was then the same as before.
func (s *Store) run(t *search) error {
	if s.tryLog(t); t.complete {
		return nil // and the packs need not be listed
	}
	list, err := s.list()
	var unread error // the log could not be read
	for err == nil {
		t.fault = nil
		if s.tryLog(t); t.complete {
			return nil
		}
		for p := range s.packsFor(list, t.id) {
			if s.tryPack(t, p); t.complete {
				return nil
			}
		}
		// The log is read before the packs are listed again: an object that has left the
		// log is in a pack of the new list.
		unread = s.readLog()
		if s.tryLog(t); t.complete {
			return nil
		}
		var next *packList
		if next, err = s.relist(); next == list {
			break
		}
		list = next
	}
	if (t.best.Header == nil || t.fault != nil) && err == nil && unread == nil && s.MendLog != nil {
		unread = s.MendLog()
		if s.tryLog(t); t.complete {
			return nil
		}
	}
	switch {
	case err != nil:
		return err
	case t.best.Header != nil:
		return nil
	}
	if t.best.Header = s.standsFor(t.id); t.best.Header != nil {
		t.fault, t.complete = nil, !t.body
		return nil
	}
	switch {
	case t.fault != nil:
		return t.fault
	}
	if err := errors.Join(checkIndexes(list), unread); err != nil {
		return fmt.Errorf("%w: %v: %w", ErrNotFound, t.id, err)
	}
	return fmt.Errorf("%w: %v", ErrNotFound, t.id)
}

// offer takes what a place has for the object. Of a copy that is not sound a good header still
// says that the object is known.
func (t *search) offer(r format.Raw, path string, sound func(format.Raw) (bool, error)) {
	whole, err := sound(r)
	if err != nil {
		t.blame(path, err.Error())
		r.Body, whole = nil, false
		if _, err := sound(r); err != nil {
			return
		}
	}
	if t.best.Header == nil || whole {
		t.best, t.path = r, path
	}
	t.complete = whole || !t.body
}

// blame remembers the first fault.
func (t *search) blame(path, why string) {
	if t.fault == nil {
		t.fault = &CorruptError{ID: t.id, Path: path, Why: why}
	}
}

func (t *search) fail(err error) {
	var corrupt *CorruptError
	switch {
	case t.fault != nil:
	case errors.As(err, &corrupt):
		t.blame(corrupt.Path, corrupt.Why)
	default:
		t.fault = fmt.Errorf("cannot read object %v: %w", t.id, err)
	}
}

// sound is the function sound for the object that is looked for.
func (t *search) sound(r format.Raw) (complete bool, err error) { return sound(t.id, r) }

// tryPack looks in one pack. A pack that vanished counts as a fault, which the next round forgets
// if the list has changed.
func (s *Store) tryPack(t *search, p *pack) {
	reader, err := p.open()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			s.unlist(p.id) // merged into another one
		}
		t.fail(err)
		return
	}
	r, ok, err := reader.get(s, t.id, t.body)
	if err != nil {
		t.fail(err)
	}
	if !ok || r.Header == nil {
		return
	}
	s.useful(p)
	t.offer(r, p.path, soundPacked)
}
