package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// An operation of a newer version moves a session's branch under a verb that this version does not know: it is read, and neither undo nor redo goes
// past it.
func TestUndoRefusesAnUnknownVerb(t *testing.T) {
	s := create(t, small...)
	ctx := context.Background()
	say(t, s, "talk", "user", "one")
	say(t, s, "talk", "user", "two")
	if _, err := s.Undo(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	err := s.locked(ctx, func(x *tx) error {
		old := must[format.Value](t)(Tip(x.view, "talk", MainBranch))
		op := &format.Operation{Verb: "graft", Session: "talk", Time: x.Now().UTC().Truncate(time.Millisecond)}
		op.Refs = []format.RefUpdate{{Name: RefName("talk", MainBranch), Old: old, New: format.Value{
			Kind: format.SessionValue, ID: old.ID, Frontier: old.Frontier + 1,
		}}}
		if err := x.commit(op); err == nil {
			t.Error("this version commits a verb of which it does not know what it does")
		}
		view, err := x.Refs.Commit(x.held, x.view, op, x.present)
		if err == nil {
			x.view = view
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, s)[RefName("talk", MainBranch)]; len(got) != 1 || got[0] != "one" {
		t.Errorf("the log has %q, want what was said before", got)
	}
	_, err = s.Undo(ctx, "talk")
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "graft") {
		t.Errorf("undo: %v, want a refusal that names the verb", err)
	}
	if _, err = s.Redo(ctx, "talk"); !errors.Is(err, ErrNotFound) {
		t.Errorf("redo: %v, want nothing to redo", err)
	}
	if _, err := s.Undo(ctx, "other"); !errors.Is(err, ErrNotFound) {
		t.Errorf("undo in another session: %v, want nothing to undo", err)
	}
}

// A branch that went with its session was not joined, also where a redo took the session away; one that was joined again by a redo was.
func TestJoinedAgainByRedo(t *testing.T) {
	s := create(t)
	ctx := context.Background()
	one := say(t, s, "talk", "user", "one")
	if _, err := s.Fork(ctx, "talk", MainBranch, []string{"child"}, ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	two := sayTo(t, s, "child", "user", "two")
	if _, err := s.Join(ctx, "talk", MainBranch, []string{"child"}, JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	turn := func(do func(context.Context, string) (Undone, error)) {
		t.Helper()
		if _, err := do(ctx, "talk"); err != nil {
			t.Fatal(err)
		}
	}
	turn(s.Undo)
	turn(s.Redo)
	if v, err := s.TipOrJoined(s.mustView(t), "talk", "child"); err != nil || v.ID != two {
		t.Errorf("the joined branch is %v, %v; want %v", v.ID, err, two)
	}
	if _, err := s.RemoveSession(ctx, "talk"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if v, err := s.TipOrJoined(s.mustView(t), "talk", MainBranch); !errors.Is(err, ErrNotFound) {
			t.Errorf("a branch of a removed session is %v (%v stood first), %v", v.ID, one, err)
		}
		turn(s.Undo)
		turn(s.Redo)
	}
}

// Every verb of the table that undo takes back moves refs, and no verb that moves a session's history is passed over.
func TestEffectsAreWhole(t *testing.T) {
	for _, verb := range refs.Verbs() {
		e, _ := refs.EffectOf(verb)
		history := e.Extends || e.Moves || e.Makes || e.Removes || e.Restores
		if e.Undo == refs.UndoTakes && !history {
			t.Errorf("undo takes %s back, which moves nothing", verb)
		}
		if e.Undo == refs.UndoPasses && history {
			t.Errorf("undo goes past %s, which changes history", verb)
		}
		if is := e.Undo == refs.UndoIsUndo || e.Undo == refs.UndoIsRedo; is != e.Restores {
			t.Errorf("%s restores: %t, and is an undo or a redo: %t", verb, e.Restores, is)
		}
	}
}
