package session

import "github.com/gemini-ctx/ctx/format"

// back calls each for the entries of the history that ends at id, newest first, until it returns false. At a join come the entries that its
// children brought, those of the last child first, and then what the branch itself said before. The entry that each is given has its
// position among the messages of this history in Seq: where nothing was joined, that is its own seq.
func (s *Store) back(id format.ID, each func(format.ID, *format.Entry) bool) error {
	return s.backSides(id, func(id format.ID, e *format.Entry, _ bool) bool { return each(id, e) })
}

// Back is back for those who look after a store.
func (s *Store) Back(tip format.ID, each func(format.ID, *format.Entry) bool) error {
	return s.back(tip, each)
}

// backSides is back for who tells apart what the branch itself has from what came to it by a join (side).
func (s *Store) backSides(id format.ID, each func(id format.ID, e *format.Entry, side bool) bool) error {
	for b := s.backward(id); ; {
		at, e, side, err := b.next()
		if err != nil || e == nil || !each(at, e, side) {
			return err
		}
	}
}

// backward goes through a history, newest first.
type backward struct {
	s       *Store
	todo    []*line // the last is gone through first
	started bool
	left    uint64 // messages from here on
}

func (s *Store) backward(tip format.ID) *backward {
	return &backward{s: s, todo: []*line{{at: tip}}}
}

// line is a line of first parents that is yet to be gone through, from at back to where it is another's.
type line struct {
	at    format.ID
	side  bool
	name  string            // of the child
	owner int               // that it is in taken
	taken map[format.ID]int // whose an entry is; nil for the branch's own line, which ends at the root
	outer *line             // the one on which its join is
}

// ends reports whether there is nothing more on the line.
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

// next returns the next entry, with its position as Seq; none at the end.
func (b *backward) next() (format.ID, *format.Entry, bool, error) {
	for len(b.todo) > 0 {
		l := b.todo[len(b.todo)-1]
		if l.ends() {
			b.todo = b.todo[:len(b.todo)-1]
			continue
		}
		id := l.at
		e, err := b.s.entry(id)
		if err != nil {
			return format.ID{}, nil, false, err
		}
		l.at = firstParent(e)
		if len(e.Parents) > 1 {
			sides, err := b.s.sides(e, l)
			if err != nil {
				return format.ID{}, nil, false, err
			}
			b.todo = append(b.todo, sides...)
		}
		return id, b.place(e), l.side, nil
	}
	return format.ID{}, nil, false, nil
}

// place returns an entry with its position as Seq.
func (b *backward) place(e *format.Entry) *format.Entry {
	if !b.started {
		b.left, b.started = e.Seq, true
	}
	placed := *e
	placed.Seq = b.left
	if e.Kind == format.KindMessage && b.left > 0 {
		b.left--
	}
	return &placed
}

// sides returns what a join brought, a line a child. It ends where the child began, or at what came with a child before it or by an earlier join.
func (s *Store) sides(join *format.Entry, outer *line) ([]*line, error) {
	own := join.Parents[0]
	taken := map[format.ID]int{}
	list := make([]*line, 0, len(join.Parents)-1)
	lowest := own // how far back the branch's own line is taken
	for i, tip := range join.Parents[1:] {
		base, err := s.Base(own, tip)
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
		list = append(list, &line{at: tip, side: true, name: join.Children[i], owner: i + 1, taken: taken, outer: outer})
	}
	return list, nil
}

// take notes what is on the line from an entry back to base, base included, and what joins on it brought, as an owner's, but for what is taken already.
func (s *Store) take(taken map[format.ID]int, owner int, from, base format.ID) error {
	least := uint64(0)
	if !base.IsZero() {
		e, err := s.entry(base)
		if err != nil {
			return err
		}
		least = e.Seq
	}
	for todo := []format.ID{from}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for !at.IsZero() {
			if have, ok := taken[at]; ok && (have != owner || at != from) {
				break
			}
			e, err := s.entry(at)
			if err != nil {
				return err
			}
			if e.Seq < least {
				break // before the branch and its child parted
			}
			taken[at] = owner
			if at == base {
				break
			}
			todo = append(todo, e.Parents[min(1, len(e.Parents)):]...)
			at = firstParent(e)
		}
	}
	return nil
}
