package history

import (
	"fmt"
	"iter"

	"github.com/gemini-ctx/ctx/format"
)

// walker is a walk through a history with what joins brought, newest first.
type walker struct {
	s       *Reader
	todo    []*line // the last is walked first
	started bool
	seq     uint64 // messages from here on
}

// line is a line of first parents, from at back to an entry of another line.
type line struct {
	at    format.ID
	name  string // of the child that a join brought; "" for the branch's own line
	owner int    // that the line is in taken
	// the owner of each entry; nil for the branch's own line, which ends at the root
	taken map[format.ID]int
	outer *line // the line on which the join is; nil for the branch's own line
}

// ends reports whether the line has no more entries.
func (l *line) ends() bool {
	if l.at.IsZero() {
		return true
	}
	for in := l; in.taken != nil; in = in.outer {
		if owner, ok := in.taken[l.at]; ok && owner != in.owner {
			return true
		}
	}
	return false
}

func (w *walker) each(yield func(Entry, error) bool) {
	for len(w.todo) > 0 {
		l := w.todo[len(w.todo)-1]
		if l.ends() {
			w.todo = w.todo[:len(w.todo)-1]
			continue
		}
		id := l.at
		e, err := w.s.Header(id)
		if err == nil && len(e.Parents) > 1 {
			var brought []*line
			brought, err = w.s.lines(e, l)
			w.todo = append(w.todo, brought...)
		}
		if err != nil {
			yield(Entry{ID: id}, err)
			return
		}
		l.at = FirstParent(e)
		if !yield(Entry{ID: id, Entry: w.place(e, l.taken == nil), Joined: l.taken != nil}, nil) {
			return
		}
	}
}

// place returns an entry with its position as Seq. On the branch's own line that is what the entry
// says, also below entries that are lost.
func (w *walker) place(e *format.Entry, own bool) *format.Entry {
	if !w.started || own {
		w.seq, w.started = e.Seq, true
	}
	placed := *e
	placed.Seq = w.seq
	if e.Kind == format.KindMessage && w.seq > 0 {
		w.seq--
	}
	return &placed
}

// Brought yields what a join brings to its first parent, newest first. The join need not be stored.
func (s *Reader) Brought(join *format.Entry) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines, err := s.lines(join, &line{})
		if err != nil {
			yield(Entry{}, err)
			return
		}
		(&walker{s: s, todo: lines}).each(yield)
	}
}

// lines returns what a join brought, a line a child. A line ends where the child began, or at what
// came with a child before it or by an earlier join.
func (s *Reader) lines(join *format.Entry, outer *line) ([]*line, error) {
	own := join.Parents[0]
	taken := map[format.ID]int{}
	list := make([]*line, 0, len(join.Parents)-1)
	lowest := own // how far back the branch's own line is taken
	for i, tip := range join.Parents[1:] {
		base, err := s.MergeBase(own, tip)
		if err != nil {
			return nil, err
		}
		if _, ok := taken[base]; !ok {
			if err := s.take(taken, 0, lowest, base); err != nil {
				return nil, err
			}
			lowest = base
		}
		if err := s.take(taken, i+1, tip, base); err != nil {
			return nil, err
		}
		list = append(list,
			&line{at: tip, name: join.Children[i], owner: i + 1, taken: taken, outer: outer})
	}
	return list, nil
}

// take gives an owner the entries on the line from an entry back to base, base included, and what
// joins on that line brought. What is taken already stays with its owner.
func (s *Reader) take(taken map[format.ID]int, owner int, from, base format.ID) error {
	least := uint64(0)
	if !base.IsZero() {
		e, err := s.Header(base)
		if err != nil {
			return err
		}
		least = e.Seq
	}
	for todo := []format.ID{from}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for e, err := range s.Walk(at, OwnLine) {
			if err != nil {
				return err
			}
			if have, ok := taken[e.ID]; ok && (have != owner || e.ID != from) {
				break
			}
			if e.Seq < least {
				break // before the branch and its child parted
			}
			taken[e.ID] = owner
			if e.ID == base {
				break
			}
			todo = append(todo, e.Parents[min(1, len(e.Parents)):]...)
		}
	}
	return nil
}

// PartialJoins returns the joins that a branch needs to end at an entry of the history of tip: none
// for an entry of the branch's own line. The first one brings what is left of the line of the
// entry, each further one brings the join before it. Of each the last parent is missing, as are
// Session, Time and Seq.
func (s *Reader) PartialJoins(tip, last format.ID) ([]*format.Entry, error) {
	w := &walker{s: s, todo: []*line{{at: tip}}}
	found := false
	for e, err := range w.each {
		if err != nil {
			return nil, err
		}
		if found = e.ID == last; found {
			break
		}
	}
	if !found {
		return nil, fmt.Errorf("%w: entry %v is not in the history of %v", NoID, last, tip)
	}
	var joins []*format.Entry
	for in := w.todo[len(w.todo)-1]; in.outer != nil; in = in.outer {
		e := &format.Entry{Kind: format.KindJoin, Parents: []format.ID{in.outer.at}}
		for _, l := range w.todo {
			if l.outer == in.outer && l.owner < in.owner {
				e.Parents, e.Children = append(e.Parents, l.at), append(e.Children, l.name)
			}
		}
		e.Children = append(e.Children, in.name)
		joins = append(joins, e)
	}
	return joins, nil
}
