package session

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/view"
)

func TestAppendLogRender(t *testing.T) {
	s := create(t, small...)
	r := rand.New(rand.NewPCG(1, 1))
	var said []string
	for i := range 60 {
		role := []string{"user", "model"}[i%2]
		text := chatter(r)
		said = append(said, text)
		say(t, s, "talk", role, text)
		check(t, s)
	}
	v := s.mustView(t)
	tip := must[format.Value](t)(Tip(v, "talk", MainBranch))
	log := must[[]*Shown](t)(s.Log(tip.ID, LogOptions{}))
	if len(log) != len(said) {
		t.Fatalf("log has %d messages, want %d", len(log), len(said))
	}
	for i := range log {
		if log[i].Text != said[i] {
			t.Errorf("message %d is %q, want %q", i, log[i].Text, said[i])
		}
	}
	done := must[Compaction](t)(s.Compact(context.Background(), CompactOptions{Branches: []BranchName{{"talk", MainBranch}}}))
	if done.Dirty != 0 || done.Roots > 3 {
		t.Errorf("after compact: %+v", done)
	}
	check(t, s)
	in := must[view.Input](t)(s.RenderInput(s.mustView(t), "talk", MainBranch, view.Options{}))
	out := must[view.Output](t)(view.Render(in, view.Options{}))
	if len(out.Bytes) == 0 || len(in.Clusters) == 0 {
		t.Errorf("nothing rendered: %d clusters", len(in.Clusters))
	}
	// Every cluster expands to what was said.
	seen := map[string]bool{}
	for _, c := range must[[]ClusterInfo](t)(s.Clusters(s.mustView(t))) {
		err := s.Expand(s.mustView(t), c.ID, ExpandOptions{}, func(e *Shown) error {
			seen[e.Text] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range in.Tail {
		seen[m.Text] = true
	}
	for _, text := range said {
		if !seen[text] {
			t.Errorf("lost: %q", text)
		}
	}
}

// A random history of everything that can be done to a store, held against what must always be so. The seeds are fixed; a failure prints its own.
func TestRandomHistories(t *testing.T) {
	histories, steps := 40, 120
	if testing.Short() {
		histories = 5
	}
	for seed := range histories {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runHistory(t, uint64(seed), steps)
		})
	}
}

func runHistory(t *testing.T, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 7))
	s := create(t, small...)
	ctx := context.Background()
	model := newModel()
	for range steps {
		session := fmt.Sprintf("s%d", r.IntN(3))
		switch n := r.IntN(100); {
		case n < 60:
			role := []string{"user", "model", "user"}[r.IntN(3)]
			text := chatter(r)
			say(t, s, session, role, text)
			model.do(session, append(model.now(session), text))
		case n < 68:
			model.rewind(t, s, r, session)
		case n < 78:
			undone, err := s.Undo(ctx, session)
			model.undo(t, session, undone, err)
		case n < 84:
			redone, err := s.Redo(ctx, session)
			model.redo(t, session, redone, err)
		case n < 92:
			if model.exists(session) {
				must[Compaction](t)(s.Compact(ctx, CompactOptions{Branches: []BranchName{{session, MainBranch}}}))
			}
		case n < 96:
			if model.exists(session) {
				must[Graduation](t)(s.Graduate(ctx, session, MainBranch))
			}
		default:
			s = reopen(t, s.Dir, nil, small...) // another process
		}
		if v := s.mustView(t); testing.Verbose() && len(v.Since) > 0 {
			last := v.Since[len(v.Since)-1].Op
			t.Logf("%d %s %s about %d: %v", last.Number, last.Verb, last.Session, last.About, v.Get(RefName(session, MainBranch)))
		}
		check(t, s)
		model.compare(t, s)
	}
}

// A header holds names that somebody else has chosen; a secret among them is one all the same.
func TestNamesAreSanitised(t *testing.T) {
	s := create(t)
	key := "AKIA" + "QYLPMN5HHHFPZAM2"
	m := Message{Role: "user", Author: key, Text: "hello", Source: &Source{Agent: "test", Session: "x", Message: key}}
	done, found, err := s.Append(context.Background(), "talk", MainBranch, []Message{m}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Count != 2 {
		t.Errorf("found %+v", found)
	}
	if header := must[[]byte](t)(s.Objects.Header(done[0].ID)); bytes.Contains(header, []byte(key)) {
		t.Errorf("header:\n%s", header)
	}
}
