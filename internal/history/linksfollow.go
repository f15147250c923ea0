package history

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/refs"
)

// LongOverlay is how many bytes of log a long command leaves after the checkpoint at most: about
// 256 appends.
const LongOverlay = 64 << 10

// renewLinks brings what is known up to view. The caller holds s.mu.
func (s *Reader) renewLinks(view *refs.View) error {
	if s.known != nil && s.known.stamp.Number >= view.Number {
		return nil
	}
	if err := s.followLinks(view); err != nil {
		return err
	}
	if s.known == nil {
		l, err := s.rebuildLinks(view)
		if err != nil {
			return err
		}
		s.known = l
	}
	// What is before the checkpoint would be read from the log again, which gc has made dense
	if l := s.known; l.added >= SaveAfter || l.read >= LongOverlay ||
		l.saved < view.Checkpoint() || l.stamp.Number >= l.saved+l.mayBeBehind() {
		s.saveLinks(s.known)
	}
	return nil
}

// followLinks brings what is known up to view, or loads it from the cache. Nothing is known
// afterwards if the cache does not have it. The caller holds s.mu.
func (s *Reader) followLinks(view *refs.View) error {
	if s.known == nil {
		s.known = s.loadLinks(view)
	}
	if s.known == nil {
		return nil
	}
	err := s.catchUp(s.known, view)
	if err != nil {
		s.known = nil
	}
	if errors.Is(err, errCacheTooOld) || IsDamage(err) {
		return nil // they are made anew
	}
	return err
}

// HasLinks reports whether the links are at hand: otherwise WithLinks walks every session whole.
func (s *Reader) HasLinks(view *refs.View) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known != nil && s.known.stamp.Number >= view.Number {
		return true, nil
	}
	err := s.followLinks(view)
	return s.known != nil, err
}

// errCacheTooOld says that the log no longer reaches back to what the cache covers, or is another
// one.
var errCacheTooOld = errors.New("the log does not go on from the cache")

// catchUp follows the operations after l's, oldest first.
func (s *Reader) catchUp(l *Links, view *refs.View) error {
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
	if uint64(len(fresh)) != view.Number-l.stamp.Number ||
		fresh[len(fresh)-1].Op.Before != l.stamp.Digest {
		return errCacheTooOld
	}
	defer s.headers.Store(nil)
	for _, r := range slices.Backward(fresh) {
		s.headers.Store(new(sync.Map))
		l.read += r.OperationSize()
		if err := s.followOne(l, r.Op, view); err != nil {
			return err
		}
	}
	l.stamp = cache.Stamp{Number: view.Number, Digest: view.Digest}
	return nil
}

// rebuildLinks walks every session whole. What another store has amended counts only where no
// session of this store has the message: nobody else changes what is said here. A join brings the
// amend into a session of this store, and so accepts it.
func (s *Reader) rebuildLinks(view *refs.View) (*Links, error) {
	stamp := cache.Stamp{Number: view.Number, Digest: view.Digest}
	l, theirs := newLinks(stamp), newLinks(stamp)
	l.packed = func(id format.ID) bool { return !s.Objects.IsLogged(id) }
	theirs.packed = l.packed
	names := view.Names("sessions/")
	places := s.ByPlace(names, TipIn(view))
	add := func(to *Links, shared bool) error {
		parts := make(map[string]part, len(names))
		for _, name := range places {
			session, _, _ := BranchOfRef(name)
			if _, of := Owner(view, session); of != shared {
				continue
			}
			p, err := s.readPart(to, view.Get(name).ID, format.ID{}, true)
			if err != nil && s.PassOver(session, err) {
				l.damage = err
				continue
			}
			if err != nil {
				return err
			}
			if !p.isEmpty() {
				parts[name] = p
			}
		}
		for _, name := range names {
			to.take(parts[name])
		}
		return nil
	}
	if err := add(theirs, true); err != nil {
		return nil, err
	}
	l.own = map[format.ID]bool{}
	for message := range theirs.Newer {
		l.own[message] = false
	}
	if err := add(l, false); err != nil {
		return nil, err
	}
	for message, list := range theirs.Newer {
		if !l.own[message] {
			l.Newer[message] = list
		}
	}
	for key, ids := range theirs.replaces {
		l.replaces[key] = append(l.replaces[key], ids...)
	}
	for key, ids := range theirs.source {
		for _, id := range ids {
			if !slices.Contains(l.source[key], id) {
				l.source[key] = append(l.source[key], id)
			}
		}
	}
	l.packed, l.own = nil, nil
	l.added += SaveAfter
	return l, nil
}

// followOne follows an operation; view is a later state of the refs.
func (s *Reader) followOne(l *Links, op *format.Operation, view *refs.View) error {
	var moved []format.RefUpdate
	for _, u := range op.Refs {
		if strings.HasPrefix(u.Name, "sessions/") && u.New.ID != u.Old.ID {
			moved = append(moved, u)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	effect := op.Effects
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
	if op.Verb == refs.VerbPull {
		// It moves branches of many sessions, and ends some whose entries others may stand on.
		fresh, err := s.rebuildLinks(view)
		if err == nil {
			*l = *fresh
		}
		return err
	}
	if grown {
		for _, u := range moved {
			// What a branch begins with that is made is the session's already, and what one has that ends is
			// the parent's.
			if !u.New.Exists() || effect.Makes && !u.Old.Exists() {
				continue
			}
			if err := s.goOn(l, u.Old.ID, u.New.ID); err != nil {
				return err
			}
		}
		return nil
	}
	relatives := Relatives(view, op.Session, op.RefNames()...)
	if len(moved) == 1 && len(relatives) == 0 && len(BranchesIn(view, op.Session)) <= 1 {
		err := s.follow(l, moved[0].Old.ID, moved[0].New.ID)
		if err == nil && effect.Leaves {
			err = s.addLeft(l, moved[0].Old.ID, moved[0].New.ID)
		}
		return err
	}
	err := s.followAll(l, append(relatives, op.Session), moved, view)
	if err == nil && effect.Leaves {
		for _, u := range moved {
			err = errors.Join(err, s.addLeft(l, u.Old.ID, u.New.ID))
		}
	}
	return err
}

// followAll is follow where sessions that share entries have several branches: what one leaves,
// another may stand on.
func (s *Reader) followAll(
	l *Links, sessions []string, moved []format.RefUpdate, view *refs.View,
) error {
	held := map[format.ID]bool{}
	for _, session := range sessions {
		for _, branch := range BranchesIn(view, session) {
			if err := s.Reach(held, view.Get(RefName(session, branch)).ID); err != nil {
				return err
			}
		}
	}
	for _, u := range moved {
		for e, err := range s.Walk(u.Old.ID, WithJoined) {
			if err != nil {
				return err
			}
			if !held[e.ID] {
				l.drop(e)
			}
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
func (s *Reader) extends(moved []format.RefUpdate) (bool, error) {
	for _, u := range moved {
		base, err := s.MergeBase(u.Old.ID, u.New.ID)
		if err != nil || base != u.Old.ID {
			return false, err
		}
	}
	return true, nil
}

// goOnWithLeft is goOn for each of some branches, with the sources of what was left on the way.
func (s *Reader) goOnWithLeft(l *Links, moved []format.RefUpdate) error {
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

// addLeft adds the sources of the lines that rewinds between two tips of a branch have left, as far
// as these are not the branch's own.
func (s *Reader) addLeft(l *Links, from, to format.ID) error {
	base, err := s.MergeBase(from, to)
	if err != nil {
		return err
	}
	type chain struct{ tip, end format.ID }
	todo := []chain{{to, base}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for e, err := range s.Walk(at.tip, OwnLine) {
			if err != nil {
				return err
			}
			if e.ID == at.end {
				break
			}
			l.addSource(e)
			if e.Left.IsZero() || e.Left == from {
				continue // from is the branch's own until now
			}
			end, err := s.MergeBase(e.Left, FirstParent(e.Entry))
			if err != nil {
				return err
			}
			todo = append(todo, chain{e.Left, end})
		}
	}
	return nil
}

// goOn follows a branch that has grown: what is new stands on what was there.
func (s *Reader) goOn(l *Links, from, to format.ID) error {
	return s.addHistory(l, to, from, from.IsZero())
}

// follow moves with a branch from one tip to another: the amends it leaves count no more, and what
// it comes to is added.
func (s *Reader) follow(l *Links, from, to format.ID) error {
	base, err := s.MergeBase(from, to)
	if err != nil {
		return err
	}
	for e, err := range s.Walk(from, WithJoined) {
		if err != nil {
			return err
		}
		if e.ID == base {
			break
		}
		l.drop(e)
	}
	return s.addHistory(l, to, base, from.IsZero())
}

// addHistory adds what tip stands on and base does not. With left it also adds the sources of what
// was rewound on the way, which a branch that comes back from nothing has and l may not know.
func (s *Reader) addHistory(l *Links, tip, base format.ID, left bool) error {
	p, err := s.readPart(l, tip, base, left)
	if err == nil {
		l.take(p)
	}
	return err
}

// part is what links note of a part of a history.
type part struct {
	added   []Entry // newest first
	rewound []Entry // only their sources count
}

func (p *part) isEmpty() bool { return len(p.added)+len(p.rewound) == 0 }

// take notes a part.
func (l *Links) take(p part) {
	for _, e := range slices.Backward(p.added) {
		l.add(e)
	}
	for _, e := range p.rewound {
		l.addSource(e)
	}
}

// readPart is addHistory, but for the change of l.
func (s *Reader) readPart(l *Links, tip, base format.ID, left bool) (p part, err error) {
	rewound := &Lineage{s: s, rewound: true, seen: map[format.ID]bool{}}
	for e, err := range s.Walk(tip, WithJoined) {
		if err != nil {
			return p, err
		}
		if e.ID == base {
			break
		}
		if l.concerns(e) { // a history is long, and most of it is packed
			p.added = append(p.added, e)
		}
		if left && !e.Left.IsZero() {
			rewound.todo = append(rewound.todo, e.Left)
		}
	}
	for e, err := range rewound.each {
		if err != nil {
			return p, err
		}
		if l.concernsSource(e) {
			p.rewound = append(p.rewound, e)
		}
	}
	return p, nil
}
