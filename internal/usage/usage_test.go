package usage_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/usage"
	"github.com/gemini-ctx/ctx/internal/when"
)

func count(t *testing.T, s *session.Store, o usage.Options) *usage.Report {
	t.Helper()
	return storetest.Must[*usage.Report](t)(usage.Count(context.Background(), o,
		usage.Store{Reader: s.Recall, View: storetest.View(t, s)}))
}

// Whatever has happened, each message that a branch stands on counts once, and the rows of weeks
// and agents add up to the whole.
func TestCountsOnce(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	r := rand.New(rand.NewPCG(5, 7))
	for range 80 {
		storetest.RandomStep(t, s, r)
	}
	view := storetest.View(t, s)
	seen := map[format.ID]bool{}
	tokens := int64(0)
	for _, one := range storetest.Must[[]sessions.Session](t)(s.Recall.Sessions(view)) {
		for _, b := range one.Branches {
			for e, err := range s.History.Walk(b.Value.ID, history.AllParents) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == format.KindMessage && !seen[e.ID] {
					seen[e.ID] = true
					tokens += (e.Body.Size + 3) / 4
				}
			}
		}
	}
	got := count(t, s, usage.Options{})
	if got.Messages != len(seen) || got.Tokens != tokens || got.Messages < 20 {
		t.Errorf("%d messages of %d tokens, want %d of %d", got.Messages, got.Tokens,
			len(seen), tokens)
	}
	for what, rows := range map[string][]usage.Row{"weeks": got.Weeks, "agents": got.Agents} {
		messages, tokens := 0, int64(0)
		for _, row := range rows {
			messages, tokens = messages+row.Messages, tokens+row.Tokens
		}
		if messages != got.Messages || tokens != got.Tokens {
			t.Errorf("%s: %d messages of %d tokens, of %d of %d", what, messages, tokens,
				got.Messages, got.Tokens)
		}
	}
	if c := got.Compacted; c.Messages == 0 || c.Messages > got.Messages || c.Tokens > got.Tokens {
		t.Errorf("compacted: %+v", c)
	}
	after := when.Span{Start: got.Last.Add(time.Second)}
	if later := count(t, s, usage.Options{Within: after}); later.Messages != 0 ||
		later.Sessions != 0 || later.Compacted.Summaries != 0 {
		t.Errorf("after the last message: %+v", later)
	}
}
