package upkeep

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

// A record whose digests are right, and whose verb, session and refs do not fit each other, is
// found.
func TestFsckOfRecordsThatDisagree(t *testing.T) {
	bg := context.Background()
	from := create(t)
	say(t, from, "talk", "one", "two", "three")
	say(t, from, "late", "four", "five")
	target := must[format.ID](t)(from.Resolve(must[*viewOf](t)(read(from)), "talk~1"))
	must[session.Rewound](t)(from.Rewind(bg, "talk", session.MainBranch, target, session.RewindOptions{}))
	must[session.Undone](t)(from.Undo(bg, "talk"))
	clean(t, from)
	const talk, late = "sessions/talk/main", "sessions/late/main"
	view := must[*viewOf](t)(read(from))
	tip, other := view.Get(talk), view.Get(late)
	back, foreign, same := tip, tip, tip
	back.ID, foreign.ID = target, other.ID
	same.Frontier++
	move := func(name string, old, to format.Value) []format.RefUpdate {
		return []format.RefUpdate{{Name: name, Old: old, New: to}}
	}
	for _, tt := range []struct {
		op   format.Operation
		want string
	}{
		{format.Operation{Verb: refs.VerbAppend, Session: "late", Refs: move(talk, tip, same)},
			`is about session "late", and moves ref "` + talk},
		{format.Operation{Verb: refs.VerbAppend, Refs: move(talk, tip, same)},
			`is about no session, and moves ref "` + talk},
		{format.Operation{Verb: refs.VerbAppend, Session: "talk", Refs: move(talk, tip, back)},
			"does not extend"},
		{format.Operation{Verb: refs.VerbRewind, Session: "talk", Refs: move(talk, tip, back)},
			"without a rewind"},
		{format.Operation{Verb: refs.VerbCompact, Session: "talk", Refs: move(talk, tip, back)},
			"changes the history of"},
		{format.Operation{Verb: refs.VerbGraduate, Session: "talk", Refs: move(talk, tip, format.Value{})},
			"ends ref"},
		{format.Operation{Verb: refs.VerbCompact, Session: "talk", Refs: move("sessions/talk/side", format.Value{}, back)},
			"begins ref"},
		{format.Operation{Verb: refs.VerbUndo, Session: "talk", About: 1, Refs: move(talk, tip, back)},
			"that operation 1 does not tell"},
		{format.Operation{Verb: refs.VerbRedo, Session: "talk", About: 2, Refs: move(talk, tip, back)},
			"that operation 2 does not tell"},
		{format.Operation{Verb: refs.VerbAppend, Session: "talk", Refs: move("sessions/talk/side", format.Value{}, foreign)},
			`which is of session "late"`},
		{format.Operation{Verb: refs.VerbState, Session: "late", Refs: move("state/session/talk", format.Value{}, format.Value{Kind: format.ObjectValue, ID: tip.ID})},
			`is about session "late", and moves ref "state/session/talk"`},
		{format.Operation{Verb: refs.VerbRepair, Refs: move(talk, tip, foreign)},
			`which is of session "late"`},
	} {
		s := open(t, copyStore(t, from.Dir), nil)
		tt.op.Time = start.Add(time.Hour)
		held := must[*lock.Held](t)(s.Lock(bg))
		must[*viewOf](t)(s.Refs.Commit(held, must[*viewOf](t)(read(s)), &tt.op, nil))
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		faults := must[FsckReport](t)(Fsck(bg, s, FsckOptions{})).Faults
		if !strings.Contains(fmt.Sprint(faults), tt.want) {
			t.Errorf("%s of session %q: no %q in %v", tt.op.Verb, tt.op.Session, tt.want, faults)
		}
	}
}

// What undo, redo, rewind, removal and a repair do is what their records say, also after the
// beginning of the log was dropped, and a verb of a newer version is not judged.
func TestFsckOfRecordsThatAgree(t *testing.T) {
	bg := context.Background()
	s := create(t)
	for n := range 3 {
		observe(t, s, "talk", n)
		say(t, s, "talk", "one", "two", "three", "four", "five", "six", "seven", "eight")
		target := must[format.ID](t)(s.Resolve(must[*viewOf](t)(read(s)), "talk~3"))
		must[session.Rewound](t)(s.Rewind(bg, "talk", session.MainBranch, target, session.RewindOptions{}))
		must[session.Undone](t)(s.Undo(bg, "talk"))
		must[session.Undone](t)(s.Redo(bg, "talk"))
		say(t, s, "late", "nine")
		must[int](t)(s.RemoveSession(bg, "late"))
		must[session.Undone](t)(s.Undo(bg, "late"))
		must[session.Compaction](t)(s.Compact(bg, session.CompactOptions{Branches: []session.BranchName{{Session: "talk", Branch: session.MainBranch}}}))
		clean(t, fresh(t, s))
	}
	age(t, s, start.Add(-30*day))
	s.Now = clock(start.Add(10 * day))
	must[GCReport](t)(GC(bg, s, GCOptions{}))
	must[session.Undone](t)(s.Undo(bg, "late"))
	clean(t, fresh(t, s))

	view := must[*viewOf](t)(read(s))
	v := view.Get("sessions/talk/main")
	parent := must[format.ID](t)(s.Resolve(view, "talk~1"))
	to := v
	to.ID = parent
	held := must[*lock.Held](t)(s.Lock(bg))
	op := &format.Operation{Verb: "graft", Session: "talk", Time: start.Add(time.Hour), Refs: []format.RefUpdate{{Name: "sessions/talk/main", Old: v, New: to}}}
	must[*viewOf](t)(s.Refs.Commit(held, view, op, nil))
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	for _, f := range faultsOf(t, s) {
		if f.Kind == "log" {
			t.Error(f)
		}
	}
}
