package compaction_test

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// B10: what happened to a claim while its summary was made decides: settled, carried, known, or
// lost.
func TestB10ClaimsAreChecked(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	ids := storetest.Talk(t, s, "talk", 24, 1)
	view0 := storetest.View(t, s)
	claims := dirtyClaims(t, s, view0)
	answers := storetest.Must[[]summaries.SealedAnswer](t)(
		s.Summaries.ExtractAll(context.Background(), view0,
			storetest.Must[*forest.State](t)(s.History.Forest(view0)), claims))
	settle := func() (done summaries.Compaction) {
		t.Helper()
		err := s.Store.Locked(context.Background(), func(tx *store.Tx) error {
			if _, err := s.Summaries.Begin(tx).AddAnswers(0, answers, &done); err != nil {
				return err
			}
			if err := s.Summaries.Begin(tx).Settle(history.MainForest, answers, &done); err != nil {
				return err
			}
			return (&compaction.Compaction{Writer: s.Compaction,
				Forest: history.MainForest}).AdoptAll(s.Compaction.Begin(tx), nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Check(t, s)
		return done
	}
	if first := settle(); first.Settled != len(claims) {
		t.Errorf("first: %+v", first)
	}
	if again := settle(); again.Known+again.Lost != len(claims) || again.Settled+again.Carried > 0 {
		t.Errorf("the same answers again: %+v", again)
	}
	if _, err := s.Conversation.Rewind(context.Background(), "talk", history.MainBranch, ids[0],
		conversation.RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	if gone := settle(); gone.Lost != len(claims) {
		t.Errorf("after everything was rewound: %+v", gone)
	}
	// A cluster that has grown since carries the answer.
	storetest.Talk(t, s, "more", 12, 2)
	view1 := storetest.View(t, s)
	answers = storetest.Must[[]summaries.SealedAnswer](t)(
		s.Summaries.ExtractAll(context.Background(), view1,
			storetest.Must[*forest.State](t)(s.History.Forest(view1)), dirtyClaims(t, s, view1)))
	storetest.Talk(t, s, "more", 20, 2)
	if grown := settle(); grown.Carried == 0 || grown.Lost > 0 {
		t.Errorf("after the clusters grew: %+v", grown)
	}
}

// dirtyClaims are the claims of every cluster that wants a summary.
func dirtyClaims(t *testing.T, s *session.Store, v *refs.View) []summaries.Claim {
	t.Helper()
	st := storetest.Must[*forest.State](t)(s.History.Forest(v))
	var numbers []uint64
	for _, c := range clusters.ByArrival(st) {
		numbers = append(numbers, c.Number)
	}
	return storetest.Must[[]summaries.Claim](t)(
		s.Summaries.ExtractClaims(v, st, new(summaries.Owners), numbers))
}
