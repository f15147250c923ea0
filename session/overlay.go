package session

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/view"
)

// overlay applies what entries on a branch's own line say about how its messages are shown. controls are those after the branch's through, oldest
// first; tail are the messages there, oldest first.
func (s *Store) overlay(tail []view.Message, controls []entryAt) ([]view.Message, error) {
	var epochs []entryAt
	for _, c := range controls {
		switch c.e.Kind {
		case format.KindMask, format.KindReplace:
			// Each has its place here.
		case format.KindEpoch:
			epochs = append(epochs, c)
		}
	}
	return s.withUpdates(tail, epochs)
}
