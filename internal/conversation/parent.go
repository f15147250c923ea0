package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// maxDepth limits how many sessions may work for one another in a chain: it stops an agent that
// calls itself without end.
const maxDepth = 64

// Link records for which call of which session a session works, in one operation. The parent does
// not change. A session is linked once: the same link again is known, another is ErrRefused.
// ErrNotFound says that a session does not exist, or, unless orphan, that the parent has no such
// call.
func (s *Writer) Link(
	ctx context.Context, child string, p history.Parent, orphan bool,
) (known bool, err error) {
	err = s.Locked(ctx, func(t *Tx) error {
		if len(t.store.View.Names("sessions/"+child+"/")) == 0 {
			return history.UnknownSession(child, history.MainBranch)
		}
		known, err = t.link(child, p, orphan)
		return err
	})
	return known, err
}

// link is Link under the lock, for a session that exists.
func (t *Tx) link(child string, p history.Parent, orphan bool) (known bool, err error) {
	u, err := t.LinkTo(child, p, orphan, false)
	if err != nil || u.New == u.Old {
		return err == nil, err
	}
	return false,
		t.store.Commit(&format.Operation{Verb: refs.VerbSessionLink, Session: child,
			Refs: []format.RefUpdate{u}})
}

// LinkTo returns how the ref of a link moves; Old and New are the same if it is there already.
// absent accepts a parent that is not in the store; its link may have no call, and gets one later.
func (t *Tx) LinkTo(
	child string, p history.Parent, orphan, absent bool,
) (u format.RefUpdate, err error) {
	if err := t.checkParent(child, p, orphan, absent); err != nil {
		return u, err
	}
	u.Name = history.ParentRef(child)
	u.Old = t.store.View.Get(u.Name)
	if u.Old.Exists() {
		u.New = u.Old
		switch old, _, err := t.ParentOf(t.store.View, child); {
		case err != nil:
			return u, err
		case old.Call == "" && p.Call != "" && old.Session == p.Session:
			p.Apart = old.Apart
		case old == p:
			return u, nil
		default:
			return u,
				fmt.Errorf("%w: session %q works for call %q of session %q already",
					history.ErrRefused, history.Clip(child), history.Clip(old.Call),
					history.Clip(old.Session))
		}
	}
	b, err := json.Marshal(history.ParentDoc{V: 1, Parent: p})
	if err == nil {
		u.New, err = t.store.AddBlob(b, format.MediaJSON)
	}
	return u, err
}

func (t *Tx) checkParent(child string, p history.Parent, orphan, absent bool) error {
	if _, err := format.EncodeName(p.Call); err != nil && !(absent && p.Call == "") {
		return fmt.Errorf("%w: call: %w", history.ErrInput, err)
	}
	if b, _, err := sanitize.Text([]byte(p.Call)); err != nil || string(b) != p.Call {
		return fmt.Errorf("%w: call: it looks like a secret", history.ErrInput)
	}
	branches := t.store.View.Names("sessions/" + p.Session + "/")
	if len(branches) == 0 && !absent {
		return history.UnknownSession(p.Session, history.MainBranch)
	}
	up := p.Session
	for depth := 0; ; depth++ {
		if up == child {
			return fmt.Errorf("%w: session %q would work for itself", history.ErrRefused,
				history.Clip(child))
		}
		if depth == maxDepth {
			return fmt.Errorf("%w: more than %d sessions work for one another",
				history.ErrRefused, maxDepth)
		}
		next, ok, err := t.ParentOf(t.store.View, up)
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
		for e, err := range t.Walk(t.store.View.Get(name).ID, history.WithJoined) {
			if err != nil ||
				slices.ContainsFunc(e.Calls, func(c format.Call) bool { return c.ID == p.Call }) {
				return err
			}
		}
	}
	return fmt.Errorf("%w: no call %q in session %q", history.NoID, history.Clip(p.Call),
		history.Clip(p.Session))
}

// HealthOf returns the session whose health of models a session shares: itself, or one that it
// works for. "" stands for the health that all of the store share, which is that of a session that
// works for nobody.
func (s *Reader) HealthOf(v *refs.View, session string) (string, error) {
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
