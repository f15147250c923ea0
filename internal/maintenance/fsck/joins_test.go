package fsck_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// joined is a store in which a branch joined two children, and what it has then: three messages of
// its own, two of the one child, two of the other, and one more.
func joined(t *testing.T) (*session.Store, []*history.Shown) {
	t.Helper()
	s := kit.Create(t)
	on := func(branch string, texts ...string) {
		var batch []conversation.Message
		for _, text := range texts {
			batch = append(batch, conversation.Message{Role: "model", Text: text})
		}
		if _, _, err := s.Conversation.Append(context.Background(), "talk", branch, batch,
			conversation.AppendOptions{NoGraduation: true}); err != nil {
			t.Fatal(err)
		}
	}
	on("main", "one", "two", "three")
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(context.Background(), "talk", "main",
		[]string{"a", "b"}, conversation.ForkOptions{}))
	on("b", "b one", "b two")
	on("a", "a one", "a two")
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(context.Background(), "talk", "main",
		[]string{"a", "b"}, conversation.JoinOptions{}))
	on("main", "four")
	tip := storetest.View(t, s).Get("sessions/talk/main").ID
	log := storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip, recall.LogOptions{All: true}))
	return s, log
}

// The messages up to a frontier are those of the whole history: of a join in the order of its
// children, wherever the frontier is.
func TestFsckKnowsWhatIsBeforeAFrontier(t *testing.T) {
	for frontier := uint64(1); frontier <= 8; frontier++ {
		s, log := joined(t)
		kit.Clean(t, s)
		record(t, s, func(v format.Value, op *format.Operation) {
			n := v
			n.Frontier = frontier
			op.Refs = []format.RefUpdate{{Name: "sessions/talk/main", Old: v, New: n}}
		})
		want := map[string]bool{}
		for _, shown := range log {
			if shown.Entry.Kind == format.KindMessage && shown.Entry.Seq <= frontier {
				want[shown.ID.String()] = true
			}
		}
		for _, f := range storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), s.Opened,
			fsck.Options{})).Faults {
			if !want[f.Subject] || !strings.Contains(f.Why, "in no cluster") {
				t.Errorf("frontier %d: %v", frontier, f)
			}
			delete(want, f.Subject)
		}
		if len(want) > 0 {
			t.Errorf("frontier %d: nothing about %v", frontier, want)
		}
	}
}

func TestFsckCountsWhatAJoinBrings(t *testing.T) {
	for _, more := range []int{-1, 1} {
		s, log := joined(t)
		wrong := format.Entry{}
		for _, shown := range log {
			if shown.Entry.Kind == format.KindJoin {
				wrong = *storetest.Must[*history.Shown](t)(s.History.Entry(shown.ID)).Entry
			}
		}
		if wrong.Seq != 7 {
			t.Fatalf("the join has seq %d, want 7", wrong.Seq)
		}
		wrong.Seq = uint64(int(wrong.Seq) + more)
		raw := format.Raw{Header: storetest.Must[[]byte](t)(wrong.Encode())}
		if err := s.Objects.Put(raw); err != nil {
			t.Fatal(err)
		}
		record(t, s, func(v format.Value, op *format.Operation) {
			n := v
			n.ID = raw.ID()
			op.Refs = []format.RefUpdate{{Name: "sessions/talk/main", Old: v, New: n}}
		})
		want := fmt.Sprintf("entry has seq %d, its parents make it 7", wrong.Seq)
		if got := fmt.Sprint(
			storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), s.Opened,
				fsck.Options{})).Faults); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// record commits an operation that no command would.
func record(t *testing.T, s *session.Store, change func(format.Value, *format.Operation)) {
	t.Helper()
	view := storetest.View(t, s)
	op := &format.Operation{Verb: "wrong", Time: storetest.Start.Add(time.Hour),
		Effects: format.Effects{Undo: format.UndoPasses}}
	change(view.Get("sessions/talk/main"), op)
	held, err := s.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refs.Commit(held, view, op, nil); err != nil {
		t.Fatal(err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
}
