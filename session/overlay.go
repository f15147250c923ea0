package session

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/view"
)

// overlay applies what entries on a branch's own line say about how its messages are shown. controls are those after the branch's through, oldest
// first, with the amends among them; tail are the messages there, oldest first.
func (s *Store) overlay(tail []view.Message, controls []entryAt) ([]view.Message, error) {
	var edits, epochs []entryAt
	for _, c := range controls {
		if c.e.Kind == format.KindEpoch {
			epochs = append(epochs, c)
		} else {
			edits = append(edits, c)
		}
	}
	es, err := s.editsOf(edits)
	if err != nil {
		return nil, err
	}
	return s.withUpdates(es.edited(tail), epochs)
}
