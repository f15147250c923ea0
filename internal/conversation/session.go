package conversation

import (
	"context"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Use makes HEAD name a session, since somebody chose it. That is an operation also where HEAD
// names the session already: HEAD stays there from then on.
func (s *Writer) Use(ctx context.Context, session string) error {
	return s.setHEAD(ctx, refs.VerbSessionUse,
		func(*refs.View) (string, error) { return session, nil })
}

// SetAbout changes what is said of a session of this store, in one operation, and returns what is
// said now. It sanitizes it as Append sanitizes messages. An undo of the session takes it back; a
// rewind leaves it alone. Errors: ErrInput, ErrRefused, ErrNotFound.
func (s *Writer) SetAbout(
	ctx context.Context, session string, change func(*history.About),
) (about history.About, found []sanitize.Finding, err error) {
	err = s.Locked(ctx, func(t *Tx) error {
		view, ref := t.store.View, history.AboutRef(session)
		if len(view.Names("sessions/"+session+"/")) == 0 {
			return history.UnknownSession(session, history.MainBranch)
		}
		if err := history.CheckOwn(view, session); err != nil {
			return err
		}
		was, err := t.AboutOf(view, session)
		if err != nil {
			return err
		}
		about = was
		about.Tags = slices.Clone(was.Tags)
		change(&about)
		b, err := about.Encode()
		if err == nil {
			b, found, err = sanitize.JSON(b)
		}
		if err == nil {
			about, err = history.DecodeAbout(b)
		}
		if err == nil {
			err = t.CheckForgotten(b)
		}
		if err != nil {
			return err
		}
		u := format.RefUpdate{Name: ref, Old: view.Get(ref)}
		if u.New, err = t.store.AddBlob(b, format.MediaJSON); err != nil || u.New == u.Old {
			return err
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbAbout, Session: session,
			Refs: []format.RefUpdate{u}})
	})
	return about, found, err
}

// FollowTo makes HEAD name the session that choose returns, since a person spoke there; "" leaves
// HEAD where it is. choose is given the newest view, which nobody changes meanwhile.
func (s *Writer) FollowTo(
	ctx context.Context, choose func(*refs.View) (session string, err error),
) error {
	return s.setHEAD(ctx, refs.VerbFollow, choose)
}

func (s *Writer) setHEAD(
	ctx context.Context, verb string, choose func(*refs.View) (session string, err error),
) error {
	return s.Locked(ctx, func(t *Tx) error {
		session, err := choose(t.store.View)
		if err != nil || session == "" {
			return err
		}
		if len(t.store.View.Names("sessions/"+session+"/")) == 0 {
			return history.UnknownSession(session, history.MainBranch)
		}
		old, want := t.store.View.Get("HEAD"), format.Value{Kind: format.NameValue, Name: session}
		op := &format.Operation{Verb: verb, Session: session}
		switch {
		case old != want:
			op.Refs = append(op.Refs, format.RefUpdate{Name: "HEAD", Old: old, New: want})
		case verb != refs.VerbSessionUse:
			return nil
		}
		return t.store.Commit(op)
	})
}

// RemoveSession removes the refs and the own state of a session, and its entries from the forest,
// and marks it as removed. It returns how many messages the session had. State that is shared with
// an app or a user stays; gc removes the words.
func (s *Writer) RemoveSession(ctx context.Context, session string) (messages int, err error) {
	err = s.Locked(ctx, func(t *Tx) error {
		op := &format.Operation{Verb: refs.VerbSessionRm, Session: session}
		seen := map[format.ID]bool{}
		for _, name := range t.store.View.Names("sessions/" + session + "/") {
			v := t.store.View.Get(name)
			if err := t.Reach(seen, v.ID); err != nil {
				return err
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: v})
		}
		for _, name := range t.store.View.Names("epochs/" + session + "/") {
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: t.store.View.Get(name)})
		}
		if len(op.Refs) == 0 {
			return history.UnknownSession(session, history.MainBranch)
		}
		if messages, err = t.countMessages(seen); err != nil {
			return err
		}
		if _, err := t.Retract(seen, session, op.Refs...); err != nil {
			return err
		}
		if label, shared := history.Owner(t.store.View, session); shared {
			moves, err := t.dropShared(session, label)
			if err != nil {
				return err
			}
			op.Refs = append(op.Refs, moves...)
		}
		for _, name := range sessionState(t.store.View, session) {
			op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: t.store.View.Get(name)})
		}
		if HEAD := t.store.View.Get("HEAD"); HEAD.Name == session {
			op.Refs = append(op.Refs,
				format.RefUpdate{Name: "HEAD", Old: HEAD, New: t.nextHEAD(session)})
		}
		if mark := history.RemovedRefs + session; !t.store.View.Get(mark).Exists() {
			v, err := t.store.AddBlob([]byte(removedMark), format.MediaJSON)
			if err != nil {
				return err
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: mark, New: v})
		}
		return t.store.Commit(op)
	})
	return messages, err
}

// removedMark is the content of the blob that the refs below RemovedRefs name.
const removedMark = `{"v":1}`

func (t *Tx) countMessages(ids map[format.ID]bool) (n int, err error) {
	for id := range ids {
		e, err := t.Header(id)
		if err != nil {
			return 0, err
		}
		if e.Kind == format.KindMessage {
			n++
		}
	}
	return n, nil
}

// nextHEAD returns the value of HEAD without a session: the first other one of this store, or no
// value.
func (t *Tx) nextHEAD(gone string) format.Value {
	for _, name := range t.store.View.Names("sessions/") {
		session, _, _ := strings.Cut(strings.TrimPrefix(name, "sessions/"), "/")
		if _, shared := history.Owner(t.store.View, session); session != gone && !shared {
			return format.Value{Kind: format.NameValue, Name: session}
		}
	}
	return format.Value{}
}

// sessionState returns the refs that belong to a session besides its branches.
func sessionState(v *refs.View, session string) (names []string) {
	origin := history.OriginRef(history.OriginOf(v, session), session)
	for _, name := range []string{history.StateRefs + "session/" + session,
		history.ParentRef(session), history.AboutRef(session), origin} {
		if v.Get(name).Exists() {
			names = append(names, name)
		}
	}
	return names
}

func isStateRef(name string) bool { return strings.HasPrefix(name, history.StateRefs) }
