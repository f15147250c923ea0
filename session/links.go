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

// links are what points at an entry from later ones, and so cannot be read from it: its newer versions, and where a source was imported to. They are
// kept in the cache and follow the branches, operation by operation.
type links struct {
	stamp index.Stamp
	// newer are the amends of a message that a branch stands on, oldest first, by the message's id.
	newer map[format.ID][]format.ID
	// source are entries by source, oldest first; those in packs may be missing, and there may be some that nothing stands on any more.
	source map[[16]byte][]format.ID
	added  int    // since the file was written
	read   int    // bytes of log read since then, to catch up
	saved  uint64 // the operation that the file covers
	// packed, while everything is read anew, says which entries' sources a pack's index has: they need not be here.
	packed func(format.ID) bool
}

// saveAfter is how many additions or operations the file may be behind: catching up by so much takes about a millisecond, and writing it each time
// would cost more.
const saveAfter = 32

// keepSources is how many sources the file holds before those that a pack's index has too are dropped from it.
const keepSources = 8192

// withLinks calls look with what is known as of view or later. look must not keep what it is given.
func (s *Store) withLinks(view *refs.View, look func(*links) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.renewLinks(view); err != nil {
		return err
	}
	return look(s.known)
}

// newest returns the entry that has a message's newest text.
func (s *Store) newest(view *refs.View, id format.ID) (newest format.ID, err error) {
	newest = id
	err = s.withLinks(view, func(l *links) error {
		if list := l.newer[id]; len(list) > 0 {
			newest = list[len(list)-1]
		}
		return nil
	})
	return newest, err
}

// renewLinks brings what is known up to view. The caller holds s.mu.
func (s *Store) renewLinks(view *refs.View) error {
	if s.known != nil && s.known.stamp.Number >= view.Number {
		return nil
	}
	if s.known == nil {
		s.known = s.loadLinks(view)
	}
	if s.known != nil {
		err := s.catchUp(s.known, view)
		if err != nil {
			s.known = nil
		}
		if err != nil && !errors.Is(err, errCacheTooOld) {
			return err
		}
	}
	if s.known == nil {
		l, err := s.rebuildLinks(view)
		if err != nil {
			return err
		}
		s.known = l
	}
	if l := s.known; l.added >= saveAfter || l.read >= longOverlay || l.stamp.Number >= l.saved+saveAfter {
		s.saveLinks(s.known)
	}
	return nil
}

// errCacheTooOld says that the log no longer reaches back to what the cache covers, or is another one.
var errCacheTooOld = errors.New("the log does not go on from the cache")

// catchUp follows the operations after l's, oldest first.
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
	if uint64(len(fresh)) != view.Number-l.stamp.Number || fresh[len(fresh)-1].Op.Before != l.stamp.Digest {
		return errCacheTooOld
	}
	for _, r := range slices.Backward(fresh) {
		l.read += r.Size
		if err := s.followOne(l, r.Op, view); err != nil {
			return err
		}
	}
	l.stamp = index.Stamp{Number: view.Number, Digest: view.Digest}
	return nil
}

// followOne follows an operation; view is a later state of the refs.
func (s *Store) followOne(l *links, op *format.Operation, view *refs.View) error {
	var moved []format.RefUpdate
	for _, u := range op.Refs {
		if strings.HasPrefix(u.Name, "sessions/") && u.New.ID != u.Old.ID {
			moved = append(moved, u)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	effect, _ := refs.EffectOf(op.Verb)
	grown := effect.Extends
	if effect.Leaves {
		on, err := s.extends(moved)
		if err != nil {
			return err
		}
		if on {
			return s.goOnWithLeft(l, moved)
		}
		grown = false
	}
	if grown {
		for _, u := range moved {
			// What a branch begins with that is made is the session's already, and what one has that ends is the parent's.
			if !u.New.Exists() || effect.Makes && !u.Old.Exists() {
				continue
			}
			if err := s.goOn(l, u.Old.ID, u.New.ID); err != nil {
				return err
			}
		}
		return nil
	}
	if len(moved) == 1 && len(view.Names("sessions/"+op.Session+"/")) <= 1 {
		err := s.follow(l, moved[0].Old.ID, moved[0].New.ID)
		if err == nil && effect.Leaves {
			err = s.addLeft(l, moved[0].Old.ID, moved[0].New.ID)
		}
		return err
	}
	err := s.followAll(l, op.Session, moved, view)
	if err == nil && effect.Leaves {
		for _, u := range moved {
			err = errors.Join(err, s.addLeft(l, u.Old.ID, u.New.ID))
		}
	}
	return err
}

// followAll is follow where a session has several branches: what one leaves, another may stand on.
func (s *Store) followAll(l *links, session string, moved []format.RefUpdate, view *refs.View) error {
	held := map[format.ID]bool{}
	for _, name := range view.Names("sessions/" + session + "/") {
		if err := s.reach(held, view.Get(name).ID); err != nil {
			return err
		}
	}
	for _, u := range moved {
		err := s.back(u.Old.ID, func(id format.ID, e *format.Entry) bool {
			if e.Kind == format.KindAmend && !held[id] {
				l.newer[e.Amends] = slices.DeleteFunc(l.newer[e.Amends], func(a format.ID) bool { return a == id })
				l.added++
			}
			return true
		})
		if err != nil {
			return err
		}
	}
	for _, u := range moved {
		if err := s.addHistory(l, u.New.ID, format.ID{}, u.Old.ID.IsZero()); err != nil {
			return err
		}
	}
	return nil
}

// extends reports whether each of some branches stands on what it stood on before.
func (s *Store) extends(moved []format.RefUpdate) (bool, error) {
	for _, u := range moved {
		base, err := s.Base(u.Old.ID, u.New.ID)
		if err != nil || base != u.Old.ID {
			return false, err
		}
	}
	return true, nil
}

// goOnWithLeft is goOn for each of some branches, with the sources of what was left on the way.
func (s *Store) goOnWithLeft(l *links, moved []format.RefUpdate) error {
	for _, u := range moved {
		if err := s.goOn(l, u.Old.ID, u.New.ID); err != nil {
			return err
		}
		if err := s.addLeft(l, u.Old.ID, u.New.ID); err != nil {
			return err
		}
	}
	return nil
}

// addLeft adds the sources of the lines that rewinds between two tips of a branch have left, as far as these are not the branch's own.
func (s *Store) addLeft(l *links, from, to format.ID) error {
	base, err := s.Base(from, to)
	if err != nil {
		return err
	}
	type line struct{ tip, end format.ID }
	todo := []line{{to, base}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for id := at.tip; !id.IsZero() && id != at.end; {
			found, err := s.readEntry(id)
			if err != nil {
				return err
			}
			l.addSource(found)
			id = firstParent(found.e)
			if found.e.Left.IsZero() {
				continue
			}
			if from == found.e.Left {
				continue // the branch's own, until now
			}
			end, err := s.Base(found.e.Left, id)
			if err != nil {
				return err
			}
			todo = append(todo, line{found.e.Left, end})
		}
	}
	return nil
}

// goOn follows a branch that has grown: what is new stands on what was there.
func (s *Store) goOn(l *links, from, to format.ID) error {
	return s.addHistory(l, to, from, from.IsZero())
}

// follow moves with a branch from one tip to another: the amends it leaves count no more, and what it comes to is added.
func (s *Store) follow(l *links, from, to format.ID) error {
	base, err := s.Base(from, to)
	if err != nil {
		return err
	}
	err = s.back(from, func(id format.ID, e *format.Entry) bool {
		if id == base {
			return false
		}
		if e.Kind == format.KindAmend {
			l.newer[e.Amends] = slices.DeleteFunc(l.newer[e.Amends], func(a format.ID) bool { return a == id })
			l.added++
		}
		return true
	})
	if err != nil {
		return err
	}
	return s.addHistory(l, to, base, from.IsZero())
}

// addHistory adds what tip stands on and base does not. With left it also adds the sources of what was rewound on the way, which a branch that
// comes back from nothing has and l may not know.
func (s *Store) addHistory(l *links, tip, base format.ID, left bool) error {
	var list []appendedEntry
	var rewound []format.ID
	var failed error
	err := s.back(tip, func(id format.ID, _ *format.Entry) bool {
		if id == base {
			return false
		}
		var found appendedEntry
		if found, failed = s.readEntry(id); failed != nil {
			return false
		}
		list = append(list, found)
		if left && !found.e.Left.IsZero() {
			rewound = append(rewound, found.e.Left)
		}
		return true
	})
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	for _, f := range slices.Backward(list) {
		l.add(f)
	}
	return s.addRewound(l, rewound)
}

// addRewound adds the sources of what hangs on tips that were left.
func (s *Store) addRewound(l *links, todo []format.ID) error {
	seen := map[format.ID]bool{}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		found, err := s.readEntry(id)
		if err != nil {
			return err
		}
		l.addSource(found)
		todo = append(append(todo, found.e.Left), found.e.Parents...)
	}
	return nil
}

// appendedEntry is an entry and its header.
type appendedEntry struct {
	id     format.ID
	e      *format.Entry
	header []byte
}

func (s *Store) readEntry(id format.ID) (appendedEntry, error) {
	header, err := s.Objects.Header(id)
	if err != nil {
		return appendedEntry{}, err
	}
	e, err := format.DecodeEntry(header)
	if err != nil {
		return appendedEntry{}, fmt.Errorf("object %v: %w", id, err)
	}
	return appendedEntry{id: id, e: e, header: header}, nil
}

func (l *links) add(f appendedEntry) {
	if f.e.Kind == format.KindAmend && !slices.Contains(l.newer[f.e.Amends], f.id) {
		l.newer[f.e.Amends] = append(l.newer[f.e.Amends], f.id)
		l.added++
	}
	l.addSource(f)
}

func (l *links) addSource(f appendedEntry) {
	key, ok := format.SourceKey(f.header)
	if !ok || l.packed != nil && l.packed(f.id) {
		return
	}
	if !slices.Contains(l.source[key], f.id) {
		l.source[key] = append(l.source[key], f.id)
		l.added++
	}
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
			s.known.add(f)
		}
	}
	s.known.stamp = index.Stamp{Number: now.Number, Digest: now.Digest}
	if packed {
		s.saveLinks(s.known)
	}
}

// rebuildLinks walks every session whole.
func (s *Store) rebuildLinks(view *refs.View) (*links, error) {
	l := newLinks(index.Stamp{Number: view.Number, Digest: view.Digest})
	l.packed = func(id format.ID) bool { return !s.Objects.IsLoose(id) }
	for _, name := range view.Names("sessions/") {
		if err := s.addHistory(l, view.Get(name).ID, format.ID{}, true); err != nil {
			return nil, err
		}
	}
	l.packed = nil
	l.added += saveAfter
	return l, nil
}

func newLinks(stamp index.Stamp) *links {
	return &links{stamp: stamp, saved: stamp.Number, newer: map[format.ID][]format.ID{}, source: map[[16]byte][]format.ID{}}
}

// loadLinks returns nil where the file cannot be used.
func (s *Store) loadLinks(view *refs.View) *links {
	b, stamp, ok := s.Cache.Load(index.LinksName)
	if !ok || stamp.Number > view.Number || stamp.Number == view.Number && stamp.Digest != view.Digest {
		return nil
	}
	l := newLinks(stamp)
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size)/64 {
		return nil
	}
	b = b[size:]
	for range n {
		message := format.ID(b[:32])
		l.newer[message] = append(l.newer[message], format.ID(b[32:64]))
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
	pairs := 0
	for _, list := range l.newer {
		pairs += len(list)
	}
	b := binary.AppendUvarint(nil, uint64(pairs))
	for message, list := range l.newer {
		for _, id := range list {
			b = append(append(b, message[:]...), id[:]...)
		}
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
	l.added, l.read, l.saved = 0, 0, l.stamp.Number
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
	ids, err := s.Objects.BySource(key)
	if err != nil {
		return nil, err
	}
	err = s.withLinks(view, func(l *links) error {
		for _, id := range l.source[key] {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}
