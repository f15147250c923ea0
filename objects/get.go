package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

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
	var lost *fs.PathError
	switch {
	case errors.Is(t.fault, fs.ErrNotExist) && errors.As(t.fault, &lost):
		return &CorruptError{ID: t.id, Path: lost.Path, Why: "the pack is lost"}
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

// GetAt is Get for who knows where an object was: it looks first into a pack, at the place that the
// object has in the list of PackContents. Where it is not there, whole, GetAt looks everywhere.
func (s *Store) GetAt(pack format.ID, place uint32, id format.ID) (format.Raw, error) {
	if raw, ok := s.getAt(pack, place, id); ok {
		return raw, nil
	}
	return s.Get(id)
}

func (s *Store) getAt(in format.ID, place uint32, id format.ID) (raw format.Raw, ok bool) {
	list, err := s.list()
	if err != nil {
		return raw, false
	}
	at := slices.IndexFunc(list.packs, func(p *pack) bool { return p.id == in })
	if at < 0 {
		return raw, false
	}
	r, err := list.packs[at].open()
	if err != nil {
		return raw, false
	}
	o, err := r.object(s, place, false) // the caller knows the id
	if err != nil || o.ID != id {
		return raw, false
	}
	raw = copied(o, true)
	whole, err := soundPacked(raw)
	return raw, err == nil && whole
}

// Has reports whether the object id is stored somewhere, or another header stands for it. In a pack
// it reads the object, elsewhere it looks at names only: what is there may be corrupt, or its body
// gone. Objects may move meanwhile, as for Get; a pack that
// was removed before the call does not count, so under the store's lock the answer is exact.
func (s *Store) Has(id format.ID) (bool, error) {
	missing, err := s.HasAll([]format.ID{id})
	return len(missing) == 0 && err == nil, err
}

// HasAll is Has for many ids: it returns those that are in no place, in the order given.
func (s *Store) HasAll(ids []format.ID) (missing []format.ID, err error) {
	if missing = s.notInLog(ids); len(missing) == 0 {
		return nil, nil // and the packs need not be listed
	}
	list, err := s.relist()
	for err == nil {
		var fault error
		missing, fault = s.missingFrom(missing, list)
		if len(missing) == 0 {
			return nil, nil
		}
		if err := s.readLog(); err != nil {
			return missing, err
		}
		if missing = s.notInLog(missing); len(missing) == 0 {
			return nil, nil
		}
		var next *packList
		if next, err = s.relist(); next == list {
			return slices.DeleteFunc(missing,
				func(id format.ID) bool { return s.standsFor(id) != nil }), fault
		}
		list = next
	}
	return missing, err
}

// notInLog returns those ids that the log, as it was last read, does not carry.
func (s *Store) notInLog(ids []format.ID) (missing []format.ID) {
	for _, id := range ids {
		if _, ok := s.inLog(id); !ok {
			missing = append(missing, id)
		}
	}
	return missing
}

// missingFrom returns those ids that are neither in the log nor in a pack of the list. fault tells
// that a pack could not be looked into. After a batch was put its pack is looked into first, and
// from memory.
func (s *Store) missingFrom(ids []format.ID, list *packList) (missing []format.ID, fault error) {
	for _, id := range ids {
		if _, ok := s.inLog(id); ok {
			continue
		}
		ok, err := s.inPacks(id, list)
		if !ok {
			missing = append(missing, id)
			if fault == nil {
				fault = err
			}
		}
	}
	return missing, fault
}

func (s *Store) inPacks(id format.ID, list *packList) (ok bool, fault error) {
	for p := range s.packsFor(list, id) {
		ok, err := p.has(s, id)
		if ok {
			s.useful(p)
			return true, nil
		}
		if fault == nil {
			fault = err
		}
	}
	return false, fault
}

// minPrefix is the least number of digits that Prefix takes.
const minPrefix = 4

// Prefix returns the ids that begin with the given lower-case hexadecimal digits, minPrefix to
// format.IDLen of them: logged and packed, sorted, each once, none if there are none. That
// there are none is said only if the log and every pack's index are sound.
func (s *Store) Prefix(hex string) ([]format.ID, error) {
	if len(hex) < minPrefix || len(hex) > format.IDLen ||
		strings.Trim(hex, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("not the first digits of an id: %.80q", hex)
	}
	var unread error
	if !s.knowsLog() {
		unread = s.readLog()
	}
	logged := func() []format.ID {
		return slices.DeleteFunc(s.Logged(),
			func(id format.ID) bool { return !strings.HasPrefix(id.String(), hex) })
	}
	ids := logged()
	if err := s.Refresh(); err != nil {
		return nil, err
	}
	err := s.overPacks(func(p *pack) error {
		reader, err := p.open()
		if err != nil {
			return err
		}
		more, err := reader.prefix(s, hex)
		ids = append(ids, more...)
		return err
	})
	if err == nil {
		err = s.absentIn(hex[:2], func(id format.ID, _ string) error {
			if strings.HasPrefix(id.String(), hex) && s.standsFor(id) != nil {
				ids = append(ids, id)
			}
			return nil
		})
	}
	if err == nil && len(ids) == 0 && unread == nil { // the log may have grown, or be damaged
		unread = s.readLog()
		ids = logged()
	}
	if err == nil && len(ids) == 0 {
		err = errors.Join(unread, s.overPacks((*pack).check))
	}
	return sorted(ids), err
}

// overPacks calls fn for every pack. When one goes away meanwhile, what it had is in another: the
// packs are listed again, and fn is called for all of them again.
func (s *Store) overPacks(fn func(*pack) error) error {
	list, err := s.list()
	for err == nil {
		var gone error
		for _, p := range list.packs {
			if err := fn(p); vanished(err) {
				gone = err
			} else if err != nil {
				return fmt.Errorf("cannot look into pack %v: %w", p.id, err)
			}
		}
		if gone == nil {
			return nil
		}
		var next *packList
		if next, err = s.relist(); next == list {
			return fmt.Errorf("cannot look into a pack: %w", gone)
		}
		list = next
	}
	return err
}

// sorted puts ids in order, each once.
func sorted(ids []format.ID) []format.ID {
	slices.SortFunc(ids, format.ID.Compare)
	return slices.Compact(ids)
}

// BySource returns the ids of the packed entries whose header has the source that key stands for
// (see format.SourceKey), sorted. It looks into the packs as last listed (see Refresh), and not at
// the log.
func (s *Store) BySource(key [16]byte) ([]format.ID, error) {
	listed, err := s.MaybeBySource(key)
	if err != nil {
		return nil, err
	}
	var ids []format.ID
	for _, id := range listed {
		header, err := s.Header(id)
		if err != nil {
			return nil, err
		}
		if k, ok := format.SourceKey(header); ok && k == key {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// MaybeBySource is BySource without a look at the headers: the packs' indexes hold 32 bits of a
// key, so there may be ids among those it returns that have another source. None is missing.
func (s *Store) MaybeBySource(key [16]byte) ([]format.ID, error) {
	var ids []format.ID
	tag := format.SourceTag(key)
	list, err := s.list()
	if err != nil || s.filter.excludes(list.packs, tag) {
		return nil, err
	}
	err = s.overPacks(func(p *pack) error {
		reader, err := p.open()
		if err != nil {
			return err
		}
		more, err := reader.tagged(s, tag)
		ids = append(ids, more...)
		return err
	})
	return sorted(ids), err
}

// IsLogged reports whether the log carries an object, as it was last read.
func (s *Store) IsLogged(id format.ID) bool {
	_, ok := s.inLog(id)
	return ok
}
