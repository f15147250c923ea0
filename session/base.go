package session

import "github.com/gemini-ctx/ctx/format"

// Base returns the newest entry that both tips stand on along first parents; the zero ID where there is none. It reads no further back than
// to there.
func (s *Store) Base(a, b format.ID) (format.ID, error) {
	seen := map[format.ID]bool{}
	at, seq := a, ^uint64(0) // the line of a has been read to before at; seq is that of the last one read
	for !b.IsZero() {
		e, err := s.entry(b)
		if err != nil {
			return format.ID{}, err
		}
		for !at.IsZero() && seq >= e.Seq {
			next, err := s.entry(at)
			if err != nil {
				return format.ID{}, err
			}
			seen[at], seq = true, next.Seq
			at = firstParent(next)
		}
		if seen[b] {
			return b, nil
		}
		b = firstParent(e)
	}
	return format.ID{}, nil
}

// firstParent is what an entry follows on its own branch; the zero ID for a root.
func firstParent(e *format.Entry) format.ID {
	if len(e.Parents) == 0 {
		return format.ID{}
	}
	return e.Parents[0]
}
