package fsck_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
)

// A record whose digests are right, and whose verb, session and refs do not fit each other, is
// found.
func TestFsckOfRecordsThatDisagree(t *testing.T) {
	bg := context.Background()
	from := kit.Create(t)
	kit.Say(t, from, "talk", "one", "two", "three")
	kit.Say(t, from, "late", "four", "five")
	target := storetest.Must[format.ID](t)(from.Clusters.Resolve(storetest.View(t, from), "talk~1"))
	storetest.Must[conversation.Rewound](t)(from.Conversation.Rewind(bg, "talk", history.MainBranch,
		target, conversation.RewindOptions{}))
	storetest.Must[conversation.Undone](t)(from.Conversation.Undo(bg, "talk"))
	kit.Clean(t, from)
	const talk, late = "sessions/talk/main", "sessions/late/main"
	view := storetest.View(t, from)
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
		{format.Operation{Verb: refs.VerbGraduate, Session: "talk",
			Refs: move(talk, tip, format.Value{})},
			"ends ref"},
		{format.Operation{Verb: refs.VerbCompact, Session: "talk",
			Refs: move("sessions/talk/side", format.Value{}, back)},
			"begins ref"},
		{format.Operation{Verb: refs.VerbUndo, Session: "talk", About: 1,
			Refs: move(talk, tip, back)},
			"that operation 1 does not tell"},
		{format.Operation{Verb: refs.VerbRedo, Session: "talk", About: 2,
			Refs: move(talk, tip, back)},
			"that operation 2 does not tell"},
		{format.Operation{Verb: refs.VerbAppend, Session: "talk",
			Refs: move("sessions/talk/side", format.Value{}, foreign)},
			`which is of session "late"`},
		{format.Operation{Verb: refs.VerbState, Session: "late",
			Refs: move("state/session/talk", format.Value{},
				format.Value{Kind: format.ObjectValue, ID: tip.ID})},
			`is about session "late", and moves ref "state/session/talk"`},
		{format.Operation{Verb: refs.VerbRepair, Refs: move(talk, tip, foreign)},
			`which is of session "late"`},
		{format.Operation{Verb: refs.VerbAppend,
			Effects: format.Effects{Moves: true, Undo: format.UndoTakes}, Session: "talk",
			Refs: move(talk, tip, back)},
			`states effects that a verb "append" does not have`},
	} {
		s := kit.Open(t, storetest.CopyStore(t, from.Dir), nil)
		tt.op.Time = storetest.Start.Add(time.Hour)
		held := storetest.Must[*lock.Held](t)(s.Lock(bg))
		storetest.Must[*kit.View](t)(s.Refs.Commit(held, storetest.View(t, s), &tt.op, nil))
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		faults := storetest.Must[fsck.Report](t)(fsck.Run(bg, s.Opened, fsck.Options{})).Faults
		if !strings.Contains(fmt.Sprint(faults), tt.want) {
			t.Errorf("%s of session %q: no %q in %v", tt.op.Verb, tt.op.Session, tt.want, faults)
		}
	}
}

// What undo, redo, rewind, removal and a repair do is what their records say, also after the
// beginning of the log was dropped, and a verb of a newer version is not judged.
func TestFsckOfRecordsThatAgree(t *testing.T) {
	bg := context.Background()
	s := kit.Create(t)
	for n := range 3 {
		kit.Observe(t, s, "talk", n)
		kit.Say(t, s, "talk", "one", "two", "three", "four", "five", "six", "seven", "eight")
		target := storetest.Must[format.ID](t)(s.Clusters.Resolve(storetest.View(t, s), "talk~3"))
		storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(bg, "talk",
			history.MainBranch, target, conversation.RewindOptions{}))
		storetest.Must[conversation.Undone](t)(s.Conversation.Undo(bg, "talk"))
		storetest.Must[conversation.Undone](t)(s.Conversation.Redo(bg, "talk"))
		kit.Say(t, s, "late", "nine")
		storetest.Must[int](t)(s.Conversation.RemoveSession(bg, "late"))
		storetest.Must[conversation.Undone](t)(s.Conversation.Undo(bg, "late"))
		storetest.Must[summaries.Compaction](t)(
			s.Compaction.Compact(bg,
				compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
					Branch: history.MainBranch}}}))
		kit.Clean(t, kit.Fresh(t, s))
	}
	kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
	s.Now = storetest.Clock(storetest.Start.Add(10 * kit.Day))
	storetest.Must[gc.Report](t)(gc.Run(bg, s.Opened, gc.Options{}))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(bg, "late"))
	kit.Clean(t, kit.Fresh(t, s))

	view := storetest.View(t, s)
	v := view.Get("sessions/talk/main")
	parent := storetest.Must[format.ID](t)(s.Clusters.Resolve(view, "talk~1"))
	to := v
	to.ID = parent
	held := storetest.Must[*lock.Held](t)(s.Lock(bg))
	op := &format.Operation{Verb: "graft", Session: "talk", Time: storetest.Start.Add(time.Hour),
		Effects: format.Effects{Moves: true, Leaves: true, Undo: format.UndoTakes},
		Refs:    []format.RefUpdate{{Name: "sessions/talk/main", Old: v, New: to}}}
	storetest.Must[*kit.View](t)(s.Refs.Commit(held, view, op, nil))
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	for _, f := range kit.FaultsOf(t, s) {
		if f.Kind == "log" {
			t.Error(f)
		}
	}
}
