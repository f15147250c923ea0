package history

import (
	"github.com/gemini-ctx/ctx/format"
)

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
