package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
)

// projectRender is what `ctx render` prints of a session.
func projectRender(t testing.TB, s *session.Store, session string, o view.Options) string {
	t.Helper()
	in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), session,
		history.MainBranch, o))
	if err := s.Recall.AddProject(storetest.View(t, s), &in, o.Budget); err != nil {
		t.Fatal(err)
	}
	return string(storetest.Must[view.Output](t)(view.Render(in, o)).Bytes)
}

// twoSessions is a store in which one session has spoken at length and been compacted.
func twoSessions(t testing.TB, settings ...string) *session.Store {
	t.Helper()
	s := storetest.Create(t, settings...)
	for i := range 200 {
		storetest.Say(t, s, "old", "user",
			fmt.Sprintf("elsewhere%d turn about component value v%d and what it is worth to us", i,
				i))
	}
	storetest.Compact(t, s, "old")
	return s
}

// A new session is told of the project from its first message on, and nothing jumps at its first
// leave: other sessions have no more than a fifth of a budget, or than the brief of a project.
func TestNewSessionKnowsTheProject(t *testing.T) {
	s := twoSessions(t, "window.graduate_at=26", "window.evict_at=30")
	for i := range 60 {
		storetest.Say(t, s, "new", "user", fmt.Sprintf("here%d, something else", i))
		for _, budget := range []int{0, 4000} {
			out := projectRender(t, s, "new", view.Options{Budget: budget})
			if !strings.Contains(out, "elsewhere") {
				t.Fatalf("budget %d: after %d messages nothing of the project is rendered:\n%s",
					budget, i+1, out)
			}
			size := 0
			for line := range strings.Lines(out) {
				if strings.Contains(line, "elsewhere") {
					size += len(line)
				}
			}
			if most := max(budget/5, recall.ProjectBudget*min(1, 4000/(budget+1))); size > 4*most {
				t.Fatalf(
					"budget %d: after %d messages %d bytes are of another session, want %d at most",
					budget, i+1, size, 4*most)
			}
			if !strings.Contains(out, fmt.Sprintf("here%d,", i)) {
				t.Fatalf("budget %d: its own newest message is not rendered", budget)
			}
		}
	}
	// A session that goes on beside it is left out: what it says further changes nothing before
	// the first leave.
	s.History.Now = storetest.Clock(time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC))
	at := func(session string, hour int, text string) {
		t.Helper()
		m := conversation.Message{Role: "user", Text: text,
			Time: time.Date(2026, 3, 2, hour, 0, 0, 0, time.UTC)}
		if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch,
			[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	at("newer", 1, "a first word")
	at("new", 2, "goes on")
	before := projectRender(t, s, "newer", view.Options{})
	at("new", 3, "goes on beside it")
	if after := projectRender(t, s, "newer", view.Options{}); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// A budget that the branch's own messages need has no room for the project.
func TestProjectTakesNoRoom(t *testing.T) {
	s := twoSessions(t)
	for i := range 20 {
		storetest.Say(t, s, "new", "user",
			fmt.Sprintf("here%d, a message of its own that takes some room, and more", i))
	}
	in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "new",
		history.MainBranch, view.Options{Budget: 600}))
	if err := s.Recall.AddProject(storetest.View(t, s), &in, 600); err != nil || len(in.Epoch) > 0 {
		t.Errorf("the project is told within a budget that has no room for it: %+v, %v",
			in.Epoch, err)
	}
}

// The heading says of which sessions clusters are, and calls history that of this conversation only
// if it is.
func TestClustersOfOtherSessions(t *testing.T) {
	s := twoSessions(t, "window.graduate_at=4", "window.evict_at=6")
	if out := projectRender(t, s, "old",
		view.Options{}); !strings.Contains(out, "history of this conversation") ||
		strings.Contains(out, "of session") {
		t.Errorf("a store of one session:\n%.500s", out)
	}
	for i := range 20 {
		storetest.Say(t, s, "new", "user", fmt.Sprintf("here%d, something else", i))
	}
	storetest.Compact(t, s, "new")
	out := projectRender(t, s, "new", view.Options{})
	if strings.Contains(out, "history of this conversation") ||
		!strings.Contains(out, "of session old\n") {
		t.Errorf("a store of two sessions:\n%.500s", out)
	}
	if doc := projectRender(t, s, "new", view.Options{Format: view.JSON}); !strings.Contains(doc,
		`"sessions":["old"]`) {
		t.Errorf("the document does not say of which sessions clusters are:\n%.500s", doc)
	}
}
