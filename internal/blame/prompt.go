package blame

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Prompt returns the message of the user that began the turn of an entry: the newest one before it
// on its own line. It is the zero id if there is none.
func (s *Reader) Prompt(id format.ID) (format.ID, error) {
	for e, err := range s.Walk(id, history.OwnLine) {
		switch {
		case err != nil:
			return format.ID{}, err
		case e.Kind == format.KindMessage && e.Role == "user" && len(e.Results) == 0:
			return e.ID, nil
		}
	}
	return format.ID{}, nil
}
