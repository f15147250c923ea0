package session

import "github.com/gemini-ctx/ctx/format"

// lineage is everything that a tip stands on, walked as far as has been asked for.
type lineage struct {
	s    *Store
	left bool // what was rewound counts too
	seen map[format.ID]bool
	todo []format.ID
}

// lineage is what a tip stands on, what was rewound included.
func (s *Store) lineage(tip format.ID) *lineage {
	l := s.history(tip)
	l.left = true
	return l
}

// history is what a tip stands on as history: what was rewound is not in it.
func (s *Store) history(tip format.ID) *lineage {
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
		if l.left && !e.Left.IsZero() {
			l.todo = append(l.todo, e.Left)
		}
		l.todo = append(l.todo, e.Parents...)
	}
	return l.seen[id], nil
}
