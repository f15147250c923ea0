package history

import (
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// Tip returns the value of a branch's ref; ErrNotFound where there is none.
func Tip(view *refs.View, session, branch string) (format.Value, error) {
	v := view.Get(RefName(session, branch))
	if !v.Exists() {
		return v, UnknownSession(session, branch)
	}
	return v, nil
}

// TipAs is Tip, with ErrStale where the branch does not end at expect. The zero ID expects nothing.
func TipAs(view *refs.View, session, branch string, expect format.ID) (format.Value, error) {
	tip, err := Tip(view, session, branch)
	if err == nil && !expect.IsZero() && expect != tip.ID {
		err = fmt.Errorf("%w: the tip of %s/%s is %v, not %v", ErrStale, session, branch,
			tip.ID, expect)
	}
	return tip, err
}

// TipOf returns the tip of a branch for an error message.
func TipOf(v format.Value) string {
	if !v.Exists() {
		return "not there"
	}
	return v.ID.String()
}

// Branch is a branch of a session.
type Branch struct {
	Name  string
	Value format.Value
	Seq   uint64 // messages
	Open  bool   // a child of a fork that nobody has joined: nothing of it graduates
	Own   uint64 // messages that no branch before it has, of the session or of one before
}

// StillAt reports whether the conversation of a branch still ends at expect. Masks, replacements,
// forks and updates may follow it. The zero ID expects nothing.
func (s *Reader) StillAt(tip, expect format.ID) (bool, error) {
	if expect.IsZero() || tip == expect {
		return true, nil
	}
	for e, err := range s.Walk(tip, OwnLine) {
		if err != nil {
			return false, err
		}
		if e.ID == expect {
			return true, nil
		}
		switch e.Kind {
		case format.KindFork, format.KindMask, format.KindReplace, format.KindEpoch:
		default:
			return false, nil
		}
	}
	return false, nil
}

// TipOrJoined is Tip that also knows joined branches: it returns the value that the branch had when
// it was joined, as far back as the log reaches.
func (s *Reader) TipOrJoined(view *refs.View, session, branch string) (format.Value, error) {
	v, missing := Tip(view, session, branch)
	if missing == nil {
		return v, nil
	}
	v, _, err := s.Joined(view, session, branch)
	if err != nil {
		return format.Value{}, err
	}
	if !v.Exists() {
		return v, missing
	}
	return v, nil
}

// Joined returns the value that a branch had when it was joined, and the number of the operation
// that joined it. The value does not exist where the log has no such operation.
func (s *Reader) Joined(
	view *refs.View, session, branch string,
) (v format.Value, by uint64, err error) {
	name := RefName(session, branch)
	var last format.Value // what the branch held when it ended
	ended, about := uint64(0), uint64(0)
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if ended != 0 && r.Op.Number != about {
			return true // a redo ended the branch: the operation that it brought back says how
		}
		if ended == 0 {
			i := slices.IndexFunc(r.Op.Refs,
				func(u format.RefUpdate) bool { return u.Name == name && !u.New.Exists() })
			if i < 0 {
				return true
			}
			last, ended = r.Op.Refs[i].Old, r.Op.Number
		}
		if r.Op.Effects.Restores {
			about = r.Op.About
			return true
		}
		if r.Op.Effects.Extends && r.Op.Effects.Removes {
			v, by = last, ended
		}
		return false
	})
	return v, by, err
}

// Invocation returns the invocation of an entry: the one that the entry names; the id of a user
// message that names none; else that of the entry before it. It is "" before the first user
// message.
func (s *Reader) Invocation(id format.ID) (string, error) {
	for e, err := range s.Walk(id, OwnLine) {
		switch {
		case err != nil:
			return "", err
		case e.Invocation != "":
			return e.Invocation, nil
		case e.Kind == format.KindMessage && e.Role == "user":
			return e.ID.String(), nil
		}
	}
	return "", nil
}
