package session

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Parent says which call of which session a session works for.
type Parent struct {
	Session string `json:"session"`
	Call    string `json:"call"` // "" where the session says who its parent is, and the parent is not there to tell the call
	// Apart says that what the session finds out about models is its own, and not shared with its parent.
	Apart bool `json:"apart,omitempty"`
}

// parentDoc is the blob that the ref of a link holds.
type parentDoc struct {
	V int `json:"v"`
	Parent
}

// maxDepth is how many sessions deep a call may be. An agent that calls itself for ever is stopped here.
const maxDepth = 64

func parentRef(session string) string { return stateRefs + "parent/" + session }

// ParentOf returns who a session works for; ok is false where it works for nobody.
func (s *Store) ParentOf(v *refs.View, session string) (p Parent, ok bool, err error) {
	id := v.Get(parentRef(session)).ID
	if id.IsZero() {
		return p, false, nil
	}
	raw, err := s.Objects.Get(id)
	if err != nil && butGone(err) == nil {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("cannot read %s: %w", parentRef(session), err)
	}
	var doc parentDoc
	if err := json.Unmarshal(raw.Body, &doc); err != nil || doc.V != 1 || doc.Session == "" {
		return p, false, fmt.Errorf("cannot read %s: unknown form", parentRef(session))
	}
	return doc.Parent, true, nil
}

// Link says for which call of which session a session works, in one operation. Nothing of the parent changes. A session is linked once: the same again is
// known, another link is ErrRefused. ErrNotFound says that one of the sessions does not exist, or, unless orphan, that the parent has no such call.
func (s *Store) Link(ctx context.Context, child string, p Parent, orphan bool) (known bool, err error) {
	err = s.locked(ctx, func(t *tx) error {
		if len(t.view.Names("sessions/"+child+"/")) == 0 {
			return unknownSession(child, MainBranch)
		}
		u, err := t.link(child, p, orphan)
		if err != nil {
			return err
		}
		if known = u.New == u.Old; known {
			return nil
		}
		return t.commit(&format.Operation{Verb: refs.VerbSessionLink, Session: child, Refs: []format.RefUpdate{u}})
	})
	return known, err
}

// link returns what moves the ref of a link; Old and New are the same where it is there already.
func (t *tx) link(child string, p Parent, orphan bool) (u format.RefUpdate, err error) {
	return t.linkTo(child, p, orphan, false)
}

// linkTo is link for a parent that need not be there (absent). A link without a call gets one.
func (t *tx) linkTo(child string, p Parent, orphan, absent bool) (u format.RefUpdate, err error) {
	if err := t.checkParent(child, p, orphan, absent); err != nil {
		return u, err
	}
	u.Name = parentRef(child)
	u.Old = t.view.Get(u.Name)
	if u.Old.Exists() {
		old, _, err := t.ParentOf(t.view, child)
		if err == nil && old.Call == "" && p.Call != "" && old.Session == p.Session {
			b, err := json.Marshal(parentDoc{1, Parent{Session: p.Session, Call: p.Call, Apart: old.Apart}})
			if err == nil {
				u.New, err = t.blob(b)
			}
			return u, err
		}
		if err == nil && old != p {
			err = fmt.Errorf("%w: session %q works for call %q of session %q already", ErrRefused, clip(child), clip(old.Call), clip(old.Session))
		}
		u.New = u.Old
		return u, err
	}
	b, err := json.Marshal(parentDoc{1, p})
	if err == nil {
		u.New, err = t.blob(b)
	}
	return u, err
}

// linkAlone links a session that an append found nothing to add to.
func (t *tx) linkAlone(child string, o AppendOptions) error {
	if o.Parent == nil {
		return nil
	}
	u, err := t.link(child, *o.Parent, o.Orphan)
	if err != nil || u.New == u.Old {
		return err
	}
	return t.commit(&format.Operation{Verb: refs.VerbSessionLink, Session: child, Refs: []format.RefUpdate{u}})
}

func (t *tx) checkParent(child string, p Parent, orphan, absent bool) error {
	if _, err := format.EncodeName(p.Call); err != nil && !(absent && p.Call == "") {
		return fmt.Errorf("%w: call: %w", ErrInput, err)
	}
	if b, _, err := sanitize.Text([]byte(p.Call)); err != nil || string(b) != p.Call {
		return fmt.Errorf("%w: call: it looks like a secret", ErrInput)
	}
	branches := t.view.Names("sessions/" + p.Session + "/")
	if len(branches) == 0 && !absent {
		return unknownSession(p.Session, MainBranch)
	}
	up := p.Session
	for depth := 0; ; depth++ {
		if up == child {
			return fmt.Errorf("%w: session %q would work for itself", ErrRefused, clip(child))
		}
		if depth == maxDepth {
			return fmt.Errorf("%w: more than %d sessions work for one another", ErrRefused, maxDepth)
		}
		next, ok, err := t.ParentOf(t.view, up)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		up = next.Session
	}
	if orphan {
		return nil
	}
	for _, name := range branches {
		found := false
		err := t.back(t.view.Get(name).ID, func(_ format.ID, e *format.Entry) bool {
			found = slices.ContainsFunc(e.Calls, func(c format.Call) bool { return c.ID == p.Call })
			return !found
		})
		if found || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: no call %q in session %q", ErrNotFound, clip(p.Call), clip(p.Session))
}

// HealthOf returns the session whose knowledge of models a session shares, itself or one that it works for; "" is what all of the store share. A
// session that works for nobody shares it with the store.
func (s *Store) HealthOf(v *refs.View, session string) (string, error) {
	for range maxDepth + 1 {
		p, ok, err := s.ParentOf(v, session)
		switch {
		case err != nil:
			return "", err
		case !ok:
			return "", nil
		case p.Apart:
			return session, nil
		}
		session = p.Session
	}
	return "", nil
}

// stateOf returns the refs that go with a session.
func stateOf(v *refs.View, session string) (names []string) {
	for _, name := range []string{stateRefs + "session/" + session, parentRef(session)} {
		if v.Get(name).Exists() {
			names = append(names, name)
		}
	}
	return names
}

func isStateRef(name string) bool { return strings.HasPrefix(name, stateRefs) }
