package compaction_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// A batch that is made before the one before it is recorded has the same objects as one that is
// made after that, tombstones included: their lines depend on what was evicted last, and in which
// order.
func TestBatchesAhead(t *testing.T) {
	ctx := context.Background()
	s := storetest.Create(t, "window.graduate_at=4", "window.evict_at=40",
		"forest.max_cold_clusters=7", "forest.merge_threshold=1")
	names := []string{"one", "two", "three"}
	for round := range 3 {
		for n, name := range names {
			var list []conversation.Message
			for i := range 90 {
				list = append(list, conversation.Message{
					Role: []string{"user", "model"}[i/2%2],
					Text: fmt.Sprintf("The port of server%d is %d. Build it in app/part%d.go now.",
						i+round, 4000+i*(n+1), i%9),
				})
			}
			if _, _, err := s.Conversation.Append(ctx, name, history.MainBranch, list,
				conversation.AppendOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range names {
		if _, err := s.Clusters.GraduateAll(ctx, name, history.MainBranch, nil); err != nil {
			t.Fatal(err)
		}
	}
	var owners summaries.Owners
	var foretold []summaries.SealedAnswer
	var todo []uint64
	for _, c := range clusters.ByArrival(
		storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s)))) {
		if c.Dirty() {
			todo = append(todo, c.Number)
		}
	}
	if len(todo) < 100 {
		t.Fatalf("only %d clusters", len(todo))
	}
	for batch := range slices.Chunk(todo, 20) {
		view := storetest.View(t, s)
		st := storetest.Must[*forest.State](t)(s.History.Forest(view))
		answers := storetest.Must[[]summaries.SealedAnswer](t)(s.Summaries.ExtractAll(ctx, view, st,
			storetest.Must[[]summaries.Claim](t)(s.Summaries.ExtractClaims(view, st,
				&owners, batch))))
		if want := idsOf(answers); foretold != nil && !slices.Equal(idsOf(foretold), want) {
			t.Fatal("the objects of a batch are others")
		}
		ahead := storetest.Must[*summaries.Ahead](t)(s.Summaries.Ahead(view, st, &owners))
		first := storetest.Must[[]summaries.SealedAnswer](t)(ahead.Extract(ctx, batch))
		if !ahead.Record(first) {
			t.Fatal("the batch cannot be foretold")
		}
		at := slices.Index(todo, batch[len(batch)-1]) + 1
		foretold = nil
		if at < len(todo) {
			foretold = storetest.Must[[]summaries.SealedAnswer](t)(
				ahead.Extract(ctx, todo[at:min(len(todo), at+20)]))
		}
		var done summaries.Compaction
		err := s.Store.Locked(ctx, func(tx *store.Tx) error {
			w := s.Summaries.Begin(tx)
			if _, err := w.AddAnswers(0, answers, &done); err != nil {
				return err
			}
			if err := w.Settle(history.MainForest, answers, &done); err != nil {
				return err
			}
			if err := w.Evict(history.MainForest, &owners, answers, false, &done); err != nil {
				return err
			}
			return tx.Commit(&format.Operation{Verb: refs.VerbCompact})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	view := storetest.View(t, s)
	if st := storetest.Must[*forest.State](t)(s.History.Forest(view)); st.Evictions < 50 {
		t.Errorf("only %d clusters were evicted", st.Evictions)
	}
}

func idsOf(answers []summaries.SealedAnswer) (ids []format.ID) {
	for _, a := range answers {
		for _, r := range a.Raws {
			ids = append(ids, r.ID())
		}
	}
	return ids
}
