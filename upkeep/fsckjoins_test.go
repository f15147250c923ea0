package upkeep

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

// joined is a store in which a branch joined two children, and what it has then: three messages of its own, two of the one child, two of the other, and one more.
func joined(t *testing.T) (*session.Store, []*session.Shown) {
	t.Helper()
	s := create(t)
	on := func(branch string, texts ...string) {
		var batch []session.Message
		for _, text := range texts {
			batch = append(batch, session.Message{Role: "model", Text: text})
		}
		if _, _, err := s.Append(context.Background(), "talk", branch, batch, session.AppendOptions{NoGraduation: true}); err != nil {
			t.Fatal(err)
		}
	}
	on("main", "one", "two", "three")
	must[session.Forked](t)(s.Fork(context.Background(), "talk", "main", []string{"a", "b"}, session.ForkOptions{}))
	on("b", "b one", "b two")
	on("a", "a one", "a two")
	must[session.Joined](t)(s.Join(context.Background(), "talk", "main", []string{"a", "b"}, session.JoinOptions{}))
	on("main", "four")
	tip := must[*viewOf](t)(read(s)).Get("sessions/talk/main").ID
	log := must[[]*session.Shown](t)(s.Log(tip, session.LogOptions{All: true}))
	return s, log
}

// The messages up to a frontier are those of the whole history: of a join in the order of its children, wherever the frontier is.
func TestFsckKnowsWhatIsBeforeAFrontier(t *testing.T) {
	for frontier := uint64(1); frontier <= 8; frontier++ {
		s, log := joined(t)
		clean(t, s)
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
		for _, f := range must[FsckReport](t)(Fsck(context.Background(), s, FsckOptions{})).Faults {
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
				wrong = *must[*session.Shown](t)(s.Entry(shown.ID)).Entry
			}
		}
		if wrong.Seq != 7 {
			t.Fatalf("the join has seq %d, want 7", wrong.Seq)
		}
		wrong.Seq = uint64(int(wrong.Seq) + more)
		raw := format.Raw{Header: must[[]byte](t)(wrong.Encode())}
		if err := s.Objects.Put(raw); err != nil {
			t.Fatal(err)
		}
		record(t, s, func(v format.Value, op *format.Operation) {
			n := v
			n.ID = raw.ID()
			op.Refs = []format.RefUpdate{{Name: "sessions/talk/main", Old: v, New: n}}
		})
		want := fmt.Sprintf("entry has seq %d, its parents make it 7", wrong.Seq)
		if got := fmt.Sprint(must[FsckReport](t)(Fsck(context.Background(), s, FsckOptions{})).Faults); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// record commits an operation that no command would.
func record(t *testing.T, s *session.Store, change func(format.Value, *format.Operation)) {
	t.Helper()
	view := must[*viewOf](t)(read(s))
	op := &format.Operation{Verb: "wrong", Time: start.Add(time.Hour)}
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
