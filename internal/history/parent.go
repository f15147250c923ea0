package history

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// Parent says which call of which session a session works for.
type Parent struct {
	Session string `json:"session"`
	// "" where the session says who its parent is, and the parent is not there to tell the call
	Call string `json:"call"`
	// Apart says that what the session finds out about models is its own, and not shared with its
	// parent.
	Apart bool `json:"apart,omitempty"`
}

// ParentDoc is the content of the blob that a ParentRef names.
type ParentDoc struct {
	V int `json:"v"`
	Parent
}

// ParentRef returns the name of the ref that links a session to its parent.
func ParentRef(session string) string { return StateRefs + "parent/" + session }

// ParentOf returns who a session works for; ok is false where it works for nobody.
func (s *Reader) ParentOf(v *refs.View, session string) (p Parent, ok bool, err error) {
	return s.ParentAt(session, v.Get(ParentRef(session)))
}

// ParentAt is ParentOf for a value of the session's ParentRef.
func (s *Reader) ParentAt(session string, v format.Value) (p Parent, ok bool, err error) {
	b, err := s.stateBlob(v.ID)
	if err != nil {
		return p, false, fmt.Errorf("cannot read %s: %w", ParentRef(session), err)
	}
	if b == nil {
		return p, false, nil
	}
	var doc ParentDoc
	if err := json.Unmarshal(b, &doc); err != nil || doc.V != 1 || doc.Session == "" {
		return p, false, fmt.Errorf("cannot read %s: unknown form", ParentRef(session))
	}
	return doc.Parent, true, nil
}

// Forks lists the sessions that name the session which they follow, but no call of it, by that
// session and in the order of their names.
func (s *Reader) Forks(view *refs.View) (map[string][]string, error) {
	of := map[string][]string{}
	for _, name := range view.Names(StateRefs + "parent/") {
		child := strings.TrimPrefix(name, StateRefs+"parent/")
		p, ok, err := s.ParentOf(view, child)
		if err != nil {
			return nil, err
		}
		if ok && p.Call == "" {
			of[p.Session] = append(of[p.Session], child)
		}
	}
	return of, nil
}
