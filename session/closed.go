package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// TipOrJoined is Tip that also knows branches which were joined: their value is the one they had then, as far back as the log of operations reaches.
func (s *Store) TipOrJoined(view *refs.View, session, branch string) (format.Value, error) {
	v, missing := Tip(view, session, branch)
	if missing == nil {
		return v, nil
	}
	v, _, err := s.joined(view, session, branch)
	if err != nil {
		return format.Value{}, err
	}
	if !v.Exists() {
		return v, missing
	}
	return v, nil
}

// joined returns what a branch held when it was joined, and the join; no value where the log knows of none.
func (s *Store) joined(view *refs.View, session, branch string) (v format.Value, by uint64, err error) {
	name := RefName(session, branch)
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			if u.Name == name && !u.New.Exists() {
				if r.Op.Verb == "join" || r.Op.Verb == "redo" {
					v, by = u.Old, r.Op.Number
				}
				return false
			}
		}
		return true
	})
	return v, by, err
}

// orJoined says of a branch that is missing that it was joined, if it was.
func (t *tx) orJoined(missing error, session, branch string) error {
	v, by, err := t.joined(t.view, session, branch)
	if err != nil || !v.Exists() {
		return missing
	}
	return fmt.Errorf("%w: branch %s of session %s was joined by operation %d", ErrStale, branch, session, by)
}
