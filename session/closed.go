package session

import (
	"fmt"
	"slices"

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
	var last format.Value // what the branch held when it ended
	ended, about := uint64(0), uint64(0)
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if ended != 0 && r.Op.Number != about {
			return true // a redo ended the branch: the operation that it brought back says how
		}
		if ended == 0 {
			i := slices.IndexFunc(r.Op.Refs, func(u format.RefUpdate) bool { return u.Name == name && !u.New.Exists() })
			if i < 0 {
				return true
			}
			last, ended = r.Op.Refs[i].Old, r.Op.Number
		}
		effect, _ := refs.EffectOf(r.Op.Verb)
		if effect.Restores {
			about = r.Op.About
			return true
		}
		if effect.Extends && effect.Removes {
			v, by = last, ended
		}
		return false
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
