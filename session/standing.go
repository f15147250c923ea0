package session

import (
	"github.com/gemini-ctx/ctx/format"
)

// startOf returns the entry with which the work that a branch is at began: the newest prompt or rewind on its own line, or the zero id before the first
// prompt. A user's message that answers a call is no prompt. each, where not nil, is told of the entries after it and of itself, newest first.
func (s *Store) startOf(tip format.ID, each func(format.ID, *format.Entry)) (start format.ID, err error) {
	err = s.backSides(tip, func(id format.ID, e *format.Entry, side bool) bool {
		if side {
			return true
		}
		if each != nil {
			each(id, e)
		}
		if e.Kind == format.KindRewind || e.Kind == format.KindMessage && e.Role == "user" && len(e.Results) == 0 {
			start = id
			return false
		}
		return true
	})
	return start, err
}
