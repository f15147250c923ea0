package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Has reports whether the object id is stored somewhere. In a pack it
// reads the object, elsewhere it looks at names only: what is there may be corrupt, or its body
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
			return missing, fault
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

// missingFrom returns those ids that are neither loose nor in a pack of the list. fault tells that
// a pack could not be looked into. After a batch was put its pack is looked into first, and from
// memory.
func (s *Store) missingFrom(ids []format.ID, list *packList) (missing []format.ID, fault error) {
	for _, id := range ids {
		if _, ok := s.inLog(id); ok || s.inRecent(id) {
			continue
		}
		ok, err := s.hasLoose(id)
		if !ok && err == nil {
			ok, err = s.inPacks(id, list)
		}
		if !ok {
			missing = append(missing, id)
			if fault == nil {
				fault = err
			}
		}
	}
	return missing, fault
}

func (s *Store) inRecent(id format.ID) bool {
	s.mu.Lock()
	p := s.recent
	s.mu.Unlock()
	if p == nil {
		return false
	}
	ok, err := p.has(s, id)
	return ok && err == nil
}

func (s *Store) hasLoose(id format.ID) (bool, error) {
	_, err := os.Lstat(s.LoosePath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
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
// format.IDLen of them: logged, loose and packed, sorted, each once, none if there are none. That
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
	err := s.eachLooseIn(hex[:2], func(i Info) error {
		if strings.HasPrefix(i.ID.String(), hex) {
			ids = append(ids, i.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.Refresh(); err != nil {
		return nil, err
	}
	err = s.overPacks(func(p *pack) error {
		reader, err := p.open()
		if err != nil {
			return err
		}
		more, err := reader.prefix(s, hex)
		ids = append(ids, more...)
		return err
	})
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

// Info is one place where an object is stored.
type Info struct {
	ID      format.ID
	Loose   bool
	Path    string    // the loose file, or the pack
	ModTime time.Time // of that file
	Size    int64     // bytes of a loose file; 0 in a pack, where objects share blocks (see Packs)
}

// Each calls fn for every object, once for each place it is stored in: those in the log, loose ones
// in the order of their ids, then each pack. It stops at the first error of fn and returns it.
// Objects that come, go or move meanwhile may be met or not, or twice: who must meet all of them
// keeps gc out with the store's lock.
func (s *Store) Each(fn func(Info) error) error {
	if err := s.readLog(); err != nil {
		return err
	}
	for _, id := range s.Logged() {
		if err := fn(Info{ID: id, Path: s.logPath()}); err != nil {
			return err
		}
	}
	if err := s.EachLoose(fn); err != nil {
		return err
	}
	list, err := s.relist()
	if err != nil {
		return err
	}
	for _, p := range list.packs {
		if err := p.each(s, fn); err != nil {
			return err
		}
	}
	return nil
}

// eachLooseIn calls fn for the loose objects whose ids begin with the two digits xx. Other names
// are not objects.
func (s *Store) eachLooseIn(xx string, fn func(Info) error) error {
	dir := filepath.Join(s.objectsDir(), xx)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot list objects: %w", err)
	}
	for _, f := range files {
		id, err := format.ParseID(xx + f.Name())
		if err != nil {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot list objects: %w", err)
		}
		err = fn(Info{ID: id, Loose: true, Path: filepath.Join(dir, f.Name()),
			ModTime: info.ModTime(), Size: info.Size()})
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *pack) each(s *Store, fn func(Info) error) error {
	info, err := os.Stat(p.path)
	if err != nil && !vanished(err) {
		return fmt.Errorf("cannot look into pack %v: %w", p.id, err)
	}
	if err != nil {
		return nil
	}
	order, err := p.contents(s)
	if err != nil {
		return err
	}
	for _, o := range order {
		if err := fn(Info{ID: o.id, Path: p.path, ModTime: info.ModTime()}); err != nil {
			return err
		}
	}
	return nil
}

// BySource returns the ids of the packed entries whose header has the source that key stands for
// (see format.SourceKey), sorted. It looks into the packs as last listed (see Refresh); loose
// entries are not looked at.
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

// IsLoose reports whether an object is outside of the packs: in a loose file or in the log. An
// object that is in neither is in a pack, or nowhere.
func (s *Store) IsLoose(id format.ID) bool {
	if _, ok := s.inLog(id); ok {
		return true
	}
	_, err := os.Lstat(s.LoosePath(id))
	return err == nil
}
