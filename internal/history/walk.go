package history

import (
	"iter"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
)

// Entry is an entry with its id, as a walk yields it.
type Entry struct {
	ID format.ID
	*format.Entry
	// Joined reports that a join brought the entry: it is not on the branch's own line.
	Joined bool
}

// Scope says which entries a walk visits.
type Scope int

const (
	// OwnLine visits the first parents: what the branch itself has, newest first.
	OwnLine Scope = iota
	// WithJoined visits the history of the branch, newest first. After a join come the entries that
	// its children brought, those of the last child first, and then the branch's own older entries.
	// The Seq of an entry is its position among the messages of this history.
	WithJoined
	// AllParents visits the same entries as WithJoined, each once and in no promised order. It costs
	// less.
	AllParents
	// WithRewound visits what AllParents visits, and what rewinds have left.
	WithRewound
)

// Walk yields the entries that tip stands on, tip included; none for the zero ID. It reads each
// entry when the loop comes to it. It ends with the first error, but for AllParents and
// WithRewound: these yield an entry that cannot be read as an error with its ID, and go on with the
// other entries.
func (s *Reader) Walk(tip format.ID, scope Scope) iter.Seq2[Entry, error] {
	switch scope {
	case OwnLine:
		return Line(tip, s.Header)
	case WithJoined:
		return func(yield func(Entry, error) bool) {
			(&walker{s: s, todo: []*line{{at: tip}}}).each(yield)
		}
	}
	return func(yield func(Entry, error) bool) { s.lineage(tip, scope).each(yield) }
}

// Line is a walk along first parents that reads entries with header.
func Line(tip format.ID, header func(format.ID) (*format.Entry, error)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for id := tip; !id.IsZero(); {
			e, err := header(id)
			if !yield(Entry{ID: id, Entry: e}, err) || err != nil {
				return
			}
			id = FirstParent(e)
		}
	}
}

// FirstParent returns the entry before e on its own branch; the zero ID for a root.
func FirstParent(e *format.Entry) format.ID {
	if len(e.Parents) == 0 {
		return format.ID{}
	}
	return e.Parents[0]
}

// Lineage is the set of entries that a tip stands on. It reads them as far as it has been asked.
type Lineage struct {
	s       *Reader
	rewound bool // what rewinds have left is in it, too
	seen    map[format.ID]bool
	todo    []format.ID
}

// Lineage returns what a tip stands on, what rewinds have left included.
func (s *Reader) Lineage(tip format.ID) *Lineage { return s.lineage(tip, WithRewound) }

// History returns what a tip stands on, without what was rewound.
func (s *Reader) History(tip format.ID) *Lineage { return s.lineage(tip, AllParents) }

func (s *Reader) lineage(tip format.ID, scope Scope) *Lineage {
	return &Lineage{s: s, rewound: scope == WithRewound, seen: map[format.ID]bool{},
		todo: []format.ID{tip}}
}

// Reach adds every entry that tips stand on to seen, without what was rewound.
func (s *Reader) Reach(seen map[format.ID]bool, tips ...format.ID) error {
	for _, err := range (&Lineage{s: s, seen: seen, todo: tips}).each {
		if err != nil {
			return err
		}
	}
	return nil
}

// Has reports whether the lineage has an entry.
func (l *Lineage) Has(id format.ID) (bool, error) {
	if l.seen[id] {
		return true, nil
	}
	for e, err := range l.each {
		if err != nil || e.ID == id {
			return err == nil, err
		}
	}
	return false, nil
}

// each yields the entries that were not read yet.
func (l *Lineage) each(yield func(Entry, error) bool) {
	for len(l.todo) > 0 {
		id := l.todo[len(l.todo)-1]
		l.todo = l.todo[:len(l.todo)-1]
		if id.IsZero() || l.seen[id] {
			continue
		}
		e, err := l.s.Header(id)
		if err == nil {
			l.seen[id] = true
			if l.rewound {
				l.todo = append(l.todo, e.Left)
			}
			l.todo = append(l.todo, e.Parents...)
		}
		if !yield(Entry{ID: id, Entry: e}, err) {
			return
		}
	}
}

// MergeBase returns the newest entry that is on the own lines of both tips; the zero ID where there
// is none. It reads no further back than to that entry.
func (s *Reader) MergeBase(a, b format.ID) (format.ID, error) {
	seen := map[format.ID]bool{}
	// the line of a has been read to before at; seq is that of the last one read
	at, seq := a, ^uint64(0)
	for !b.IsZero() {
		e, err := s.Header(b)
		if err != nil {
			return format.ID{}, err
		}
		for !at.IsZero() && seq >= e.Seq {
			next, err := s.Header(at)
			if err != nil {
				return format.ID{}, err
			}
			seen[at], seq = true, next.Seq
			at = FirstParent(next)
		}
		if seen[b] {
			return b, nil
		}
		b = FirstParent(e)
	}
	return format.ID{}, nil
}

// ByPlace returns names of sessions or branches in the order in which their tips lie in packs. A
// block of a pack has messages of many sessions, and names are in another order than blocks. Who
// reads many sessions by name unpacks each block again and again: with 10,000 sessions that took 40
// s for what takes 2 s in this order. The order is no more than likely to be a good one.
func (s *Reader) ByPlace(names []string, tip func(name string) format.ID) []string {
	return lists.By(names, tip, s.Objects.ByPlace)
}

// TipIn returns the function of a view that returns the tip of a branch by the name of its ref.
func TipIn(view *refs.View) func(ref string) format.ID {
	return func(ref string) format.ID { return view.Get(ref).ID }
}
