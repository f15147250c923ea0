package session

import "github.com/gemini-ctx/ctx/format"

// Base returns the newest entry that both tips stand on along first parents; the zero ID where there is none. It reads no further back than
// to there.
func (s *Store) Base(a, b format.ID) (format.ID, error) {
	seen := map[format.ID]bool{}
	at, seq := a, ^uint64(0) // the chain of a has been read to before at; seq is that of the last one read
	var base format.ID
	var failed error
	err := s.back(b, func(id format.ID, e *format.Entry) bool {
		for !at.IsZero() && seq >= e.Seq {
			var next *format.Entry
			if next, failed = s.entry(at); failed != nil {
				return false
			}
			seen[at], seq = true, next.Seq
			at = firstParent(next)
		}
		if seen[id] {
			base = id
		}
		return base.IsZero()
	})
	if failed != nil {
		err = failed
	}
	return base, err
}

func firstParent(e *format.Entry) format.ID {
	if len(e.Parents) == 0 {
		return format.ID{}
	}
	return e.Parents[0]
}
