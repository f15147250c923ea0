package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/refs"
)

// graft commits an operation of a verb that this version does not know. It moves a branch to the
// value that to returns for the present one, and states e.
func graft(t *testing.T, s *session.Store, e format.Effects, to func(format.Value) format.Value) {
	t.Helper()
	err := s.Store.Locked(context.Background(), func(x *store.Tx) error {
		old := storetest.Must[format.Value](t)(history.Tip(x.View, "talk", history.MainBranch))
		op := &format.Operation{Verb: "graft", Effects: e, Session: "talk",
			Time: s.Now().UTC().Truncate(time.Millisecond)}
		op.Refs = []format.RefUpdate{{Name: history.RefName("talk", history.MainBranch), Old: old,
			New: to(old)}}
		view, err := s.Refs.Commit(x.Held, x.View, op, nil)
		if err == nil {
			x.View = view
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// This version commits no verb of which it does not know what it does.
func TestUnknownVerbIsNotCommitted(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Say(t, s, "talk", "user", "one")
	err := s.Store.Locked(context.Background(), func(x *store.Tx) error {
		return x.Commit(&format.Operation{Verb: "graft", Session: "talk"})
	})
	if err == nil || !strings.Contains(err.Error(), "graft") {
		t.Errorf("got %v", err)
	}
}

// An operation of a newer version whose verb this version does not know states that undo takes it
// back: undo does, and redo brings it back.
func TestUndoOfAStatedEffect(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ctx := context.Background()
	first := storetest.Say(t, s, "talk", "user", "one")
	storetest.Say(t, s, "talk", "user", "two")
	ref := history.RefName("talk", history.MainBranch)
	before := storetest.View(t, s).Get(ref)
	graft(t, s,
		format.Effects{Moves: true, Undo: format.UndoTakes}, func(v format.Value) format.Value {
			v.ID = first
			return v
		})
	after := storetest.View(t, s).Get(ref)
	if _, err := s.Conversation.Undo(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	if got := storetest.View(t, s).Get(ref); got != before {
		t.Errorf("undo left %v, want %v", got, before)
	}
	if _, err := s.Conversation.Redo(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	if got := storetest.View(t, s).Get(ref); got != after {
		t.Errorf("redo left %v, want %v", got, after)
	}
}

// An operation moves a session's branch under a verb that this version does not know, and states
// that undo refuses it: it is read, and neither undo nor redo goes past it.
func TestUndoRefusesAnUnknownVerb(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ctx := context.Background()
	storetest.Say(t, s, "talk", "user", "one")
	storetest.Say(t, s, "talk", "user", "two")
	if _, err := s.Conversation.Undo(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	graft(t, s, format.Effects{Moves: true}, func(v format.Value) format.Value {
		v.Frontier++
		return v
	})
	if got := storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)]; len(got) != 1 ||
		got[0] != "one" {
		t.Errorf("the log has %q, want what was said before", got)
	}
	_, err := s.Conversation.Undo(ctx, "talk")
	if !errors.Is(err, history.ErrRefused) || !strings.Contains(err.Error(), "graft") {
		t.Errorf("undo: %v, want a refusal that names the verb", err)
	}
	if _, err = s.Conversation.Redo(ctx, "talk"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("redo: %v, want nothing to redo", err)
	}
	if _, err := s.Conversation.Undo(ctx, "other"); !errors.Is(err, history.ErrNotFound) {
		t.Errorf("undo in another session: %v, want nothing to undo", err)
	}
}

// A branch that went with its session was not joined, also where a redo took the session away; one
// that was joined again by a redo was.
func TestJoinedAgainByRedo(t *testing.T) {
	s := storetest.Create(t)
	ctx := context.Background()
	one := storetest.Say(t, s, "talk", "user", "one")
	if _, err := s.Conversation.Fork(ctx, "talk", history.MainBranch, []string{"child"},
		conversation.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	two := storetest.SayOn(t, s, "child", "user", "two")
	if _, err := s.Conversation.Join(ctx, "talk", history.MainBranch, []string{"child"},
		conversation.JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	turn := func(do func(context.Context, string) (conversation.Undone, error)) {
		t.Helper()
		if _, err := do(ctx, "talk"); err != nil {
			t.Fatal(err)
		}
	}
	turn(s.Conversation.Undo)
	turn(s.Conversation.Redo)
	if v, err := s.History.TipOrJoined(storetest.View(t, s), "talk",
		"child"); err != nil || v.ID != two {
		t.Errorf("the joined branch is %v, %v; want %v", v.ID, err, two)
	}
	if _, err := s.Conversation.RemoveSession(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if v, err := s.History.TipOrJoined(storetest.View(t, s), "talk",
			history.MainBranch); !errors.Is(err, history.ErrNotFound) {
			t.Errorf("a branch of a removed session is %v (%v stood first), %v", v.ID, one, err)
		}
		turn(s.Conversation.Undo)
		turn(s.Conversation.Redo)
	}
}

// Every verb of the table that undo takes back moves refs, and no verb that moves a session's
// history is passed over.
func TestEffectsAreWhole(t *testing.T) {
	for _, verb := range refs.Verbs() {
		e, _ := refs.EffectsOfVerb(verb)
		history := e.Extends || e.Moves || e.Makes || e.Removes || e.Restores
		if e.Undo == format.UndoTakes && !history {
			t.Errorf("undo takes %s back, which moves nothing", verb)
		}
		// A pull moves the sessions of other stores alone, and no undo reaches into those.
		if e.Undo == format.UndoPasses && history && verb != refs.VerbPull {
			t.Errorf("undo goes past %s, which changes history", verb)
		}
		if is := e.Undo == format.UndoIsUndo || e.Undo == format.UndoIsRedo; is != e.Restores {
			t.Errorf("%s restores: %t, and is an undo or a redo: %t", verb, e.Restores, is)
		}
	}
}
