package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// links are what points at an entry from later ones, and so cannot be read from it: its newest version, and where a source was imported to. They are
// kept in the cache and caught up by walking what each operation since has added.
type links struct {
	stamp  index.Stamp
	newest map[format.ID]format.ID  // of an amended message, by its id
	source map[[16]byte][]format.ID // entries by source, oldest first; those in packs may be missing
	added  int                      // since the file was written
}

// keepSources is how many sources the file holds before those that a pack's index has too are dropped from it.
const keepSources = 8192

// links returns what is known as of view. The result is shared by the commands of one process and must not be changed.
func (s *Store) links(view *refs.View) (*links, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || s.known.stamp.Number > view.Number {
		s.known = s.loadLinks(view)
	}
	if s.known != nil {
		if err := s.catchUp(s.known, view); errors.Is(err, errCacheTooOld) {
			s.known = nil
		} else if err != nil {
			s.known = nil
			return nil, err
		}
	}
	if s.known == nil {
		l, err := s.rebuildLinks(view)
		if err != nil {
			return nil, err
		}
		s.known = l
	}
	if s.known.added > 0 {
		s.saveLinks(s.known)
	}
	return s.known, nil
}

// errCacheTooOld says that the log no longer reaches back to what the cache covers.
var errCacheTooOld = errors.New("the log no longer reaches back to the cache")

// catchUp adds the entries of the operations after l's, oldest first.
func (s *Store) catchUp(l *links, view *refs.View) error {
	if l.stamp.Number == view.Number {
		return nil
	}
	var fresh []refs.Record
	err := s.Refs.Backward(view, func(r refs.Record) bool {
		if r.Op.Number <= l.stamp.Number {
			return false
		}
		fresh = append(fresh, r)
		return true
	})
	if err != nil {
		return err
	}
	if uint64(len(fresh)) != view.Number-l.stamp.Number {
		return errCacheTooOld
	}
	slices.Reverse(fresh)
	for _, r := range fresh {
		if r.Op.Verb == "undo" || r.Op.Verb == "redo" {
			continue // they move refs among entries that are known
		}
		for _, u := range r.Op.Refs {
			if strings.HasPrefix(u.Name, "sessions/") && u.New.Exists() && u.New.ID != u.Old.ID {
				if err := s.addEntries(l, u.Old.ID, u.New.ID); err != nil {
					return err
				}
			}
		}
	}
	l.stamp = index.Stamp{Number: view.Number, Digest: view.Digest}
	return nil
}

// learn adds what this process has just committed, without reading it again; before is the view that it was committed on. The sources of a batch
// that went into a pack are in the pack's index.
func (s *Store) learn(before, now *refs.View, appended []appendedEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil || s.known.stamp.Number != before.Number || now.Number != before.Number+1 {
		return
	}
	packed := len(appended) > objects.LooseMost
	for _, f := range appended {
		if !packed || f.e.Kind == format.KindAmend {
			s.known.add(f.id, f.e, f.header)
		}
	}
	s.known.stamp = index.Stamp{Number: now.Number, Digest: now.Digest}
	if packed {
		s.saveLinks(s.known)
	}
}

// appendedEntry is an entry and its header.
type appendedEntry struct {
	id     format.ID
	e      *format.Entry
	header []byte
}

// addEntries adds what was appended after old up to tip. A rewind goes back; it is the one new entry of its operation.
func (s *Store) addEntries(l *links, old, tip format.ID) error {
	type found struct {
		id     format.ID
		e      *format.Entry
		header []byte
	}
	var list []found
	for id := tip; id != old; {
		header, err := s.Objects.Header(id)
		if err != nil {
			return err
		}
		e, err := format.DecodeEntry(header)
		if err != nil {
			return fmt.Errorf("object %v: %w", id, err)
		}
		list = append(list, found{id, e, header})
		if e.Kind == format.KindRewind || len(e.Parents) == 0 {
			break
		}
		id = e.Parents[0]
	}
	for _, f := range slices.Backward(list) {
		l.add(f.id, f.e, f.header)
	}
	return nil
}

func (l *links) add(id format.ID, e *format.Entry, header []byte) {
	if e.Kind == format.KindAmend {
		l.newest[e.Amends] = id
		l.added++
	}
	if key, ok := format.SourceKey(header); ok && !slices.Contains(l.source[key], id) {
		l.source[key] = append(l.source[key], id)
		l.added++
	}
}

// rebuildLinks walks every session whole, what was rewound included.
func (s *Store) rebuildLinks(view *refs.View) (*links, error) {
	l := newLinks(index.Stamp{Number: view.Number, Digest: view.Digest})
	type found struct {
		id     format.ID
		e      *format.Entry
		header []byte
	}
	seen := map[format.ID]bool{}
	for _, name := range view.Names("sessions/") {
		var list []found
		stack := []format.ID{view.Get(name).ID}
		for len(stack) > 0 {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[id] || id.IsZero() {
				continue
			}
			seen[id] = true
			header, err := s.Objects.Header(id)
			if err != nil {
				return nil, err
			}
			e, err := format.DecodeEntry(header)
			if err != nil {
				return nil, fmt.Errorf("object %v: %w", id, err)
			}
			if e.Kind == format.KindAmend || e.Source != nil {
				list = append(list, found{id, e, header})
			}
			stack = append(append(stack, e.Left), e.Parents...)
		}
		for _, f := range slices.Backward(list) {
			l.add(f.id, f.e, f.header)
		}
	}
	l.added++
	return l, nil
}

func newLinks(stamp index.Stamp) *links {
	return &links{stamp: stamp, newest: map[format.ID]format.ID{}, source: map[[16]byte][]format.ID{}}
}

// loadLinks returns nil where the file cannot be used.
func (s *Store) loadLinks(view *refs.View) *links {
	b, stamp, ok := s.Cache.Load(index.LinksName)
	if !ok || stamp.Number > view.Number || stamp.Number == view.Number && stamp.Digest != view.Digest {
		return nil
	}
	l := newLinks(stamp)
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b))/64 {
		return nil
	}
	b = b[size:]
	for range n {
		l.newest[format.ID(b[:32])] = format.ID(b[32:64])
		b = b[64:]
	}
	if len(b)%48 != 0 {
		return nil
	}
	for ; len(b) > 0; b = b[48:] {
		key := [16]byte(b[:16])
		l.source[key] = append(l.source[key], format.ID(b[16:48]))
	}
	return l
}

func (s *Store) saveLinks(l *links) {
	if len(l.source) > keepSources {
		s.dropPacked(l)
	}
	b := binary.AppendUvarint(nil, uint64(len(l.newest)))
	for old, id := range l.newest {
		b = append(append(b, old[:]...), id[:]...)
	}
	for key, ids := range l.source {
		for _, id := range ids {
			b = append(append(b, key[:]...), id[:]...)
		}
	}
	if err := s.Cache.Store(index.LinksName, l.stamp, b); err != nil {
		s.warn(fmt.Errorf("cannot write the cache: %w", err))
		return
	}
	l.added = 0
}

// dropPacked takes out the sources that packs know themselves.
func (s *Store) dropPacked(l *links) {
	for key, ids := range l.source {
		packed, err := s.Objects.MaybeBySource(key)
		if err != nil {
			return
		}
		ids = slices.DeleteFunc(ids, func(id format.ID) bool { return slices.Contains(packed, id) })
		if len(ids) == 0 {
			delete(l.source, key)
		} else {
			l.source[key] = ids
		}
	}
}

// bySource returns the entries that a source was imported to, whether anything reaches them or not.
func (s *Store) bySource(view *refs.View, key [16]byte) ([]format.ID, error) {
	l, err := s.links(view)
	if err != nil {
		return nil, err
	}
	ids, err := s.Objects.BySource(key)
	if err != nil {
		return nil, err
	}
	for _, id := range l.source[key] {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// lineage is everything that a session's tip stands on, what was rewound included, walked as far as has been asked for.
type lineage struct {
	s    *Store
	seen map[format.ID]bool
	todo []format.ID
}

func (s *Store) lineage(tip format.ID) *lineage {
	l := &lineage{s: s, seen: map[format.ID]bool{}}
	if !tip.IsZero() {
		l.todo = []format.ID{tip}
	}
	return l
}

// has reports whether id is in the lineage.
func (l *lineage) has(id format.ID) (bool, error) {
	for !l.seen[id] && len(l.todo) > 0 {
		next := l.todo[len(l.todo)-1]
		l.todo = l.todo[:len(l.todo)-1]
		if l.seen[next] {
			continue
		}
		e, err := l.s.entry(next)
		if err != nil {
			return false, err
		}
		l.seen[next] = true
		if !e.Left.IsZero() {
			l.todo = append(l.todo, e.Left)
		}
		l.todo = append(l.todo, e.Parents...)
	}
	return l.seen[id], nil
}
