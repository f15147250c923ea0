package session_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

func TestAppendLogRender(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(1, 1))
	var said []string
	for i := range 60 {
		role := []string{"user", "model"}[i%2]
		text := storetest.Chatter(r)
		said = append(said, text)
		storetest.Say(t, s, "talk", role, text)
		storetest.Check(t, s)
	}
	v := storetest.View(t, s)
	tip := storetest.Must[format.Value](t)(history.Tip(v, "talk", history.MainBranch))
	log := storetest.Must[[]*history.Shown](t)(s.Recall.Log(tip.ID, recall.LogOptions{}))
	if len(log) != len(said) {
		t.Fatalf("log has %d messages, want %d", len(log), len(said))
	}
	for i := range log {
		if log[i].Text != said[i] {
			t.Errorf("message %d is %q, want %q", i, log[i].Text, said[i])
		}
	}
	done := storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(),
		compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
			Branch: history.MainBranch}}}))
	if done.Dirty != 0 || done.Roots > 3 {
		t.Errorf("after compact: %+v", done)
	}
	storetest.Check(t, s)
	in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "talk",
		history.MainBranch, view.Options{}))
	out := storetest.Must[view.Output](t)(view.Render(in, view.Options{}))
	if len(out.Bytes) == 0 || len(in.Clusters) == 0 {
		t.Errorf("nothing rendered: %d clusters", len(in.Clusters))
	}
	// Every cluster expands to what was said.
	seen := map[string]bool{}
	for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(
		s.Recall.Clusters(storetest.View(t, s))) {
		err := s.Recall.Expand(storetest.View(t, s), c.ID,
			recall.ExpandOptions{}, func(e *history.Shown) error {
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

// A random history of everything that can be done to a store, held against what must always be so.
// The seeds are fixed; a failure prints its own.
func TestRandomHistories(t *testing.T) {
	const steps = 120
	for _, seed := range histories(t, 40, 5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runHistory(t, uint64(seed), steps)
		})
	}
}

func runHistory(t *testing.T, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 7))
	s := storetest.Create(t, storetest.Small...)
	ctx := context.Background()
	model := newModel()
	for range steps {
		session := fmt.Sprintf("s%d", r.IntN(3))
		switch n := r.IntN(100); {
		case n < 60:
			role := []string{"user", "model", "user"}[r.IntN(3)]
			text := storetest.Chatter(r)
			storetest.Say(t, s, session, role, text)
			model.do(session, append(model.now(session), text))
		case n < 68:
			model.rewind(t, s, r, session)
		case n < 78:
			undone, err := s.Conversation.Undo(ctx, session)
			model.undo(t, session, undone, err)
		case n < 84:
			redone, err := s.Conversation.Redo(ctx, session)
			model.redo(t, session, redone, err)
		case n < 92:
			if model.exists(session) {
				storetest.Must[summaries.Compaction](t)(
					s.Compaction.Compact(ctx,
						compaction.CompactOptions{Branches: []history.BranchName{{Session: session,
							Branch: history.MainBranch}}}))
			}
		case n < 96:
			if model.exists(session) {
				storetest.Must[clusters.Graduation](t)(s.Conversation.Graduate(ctx, session,
					history.MainBranch))
			}
		default:
			s = storetest.Reopen(t, s.Dir, nil, storetest.Small...) // another process
		}
		if v := storetest.View(t, s); testing.Verbose() && len(v.Since) > 0 {
			last := v.Since[len(v.Since)-1].Op
			t.Logf("%d %s %s about %d: %v", last.Number, last.Verb, last.Session, last.About,
				v.Get(history.RefName(session, history.MainBranch)))
		}
		storetest.Check(t, s)
		model.compare(t, s)
	}
}

// A header holds names that somebody else has chosen; a secret among them is one all the same.
func TestNamesAreSanitized(t *testing.T) {
	s := storetest.Create(t)
	key := "AKIA" + "QYLPMN5HHHFPZAM2"
	m := conversation.Message{Role: "user", Author: key, Text: "hello",
		Source: &conversation.Source{Agent: "test", Session: "x", Message: key}}
	done, found, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
		[]conversation.Message{m}, conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Count != 2 {
		t.Errorf("found %+v", found)
	}
	if header := storetest.Must[[]byte](t)(s.Objects.Header(done[0].ID)); bytes.Contains(header,
		[]byte(key)) {
		t.Errorf("header:\n%s", header)
	}
}
