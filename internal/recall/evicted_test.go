package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

// Under a budget what was evicted is rendered beside the rest.
func TestRenderEvicted(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	for _, topic := range storetest.Topics {
		for range 3 {
			storetest.Say(t, s, "talk", "user", strings.ReplaceAll(topic, "%d", "7"))
		}
	}
	for range 8 {
		storetest.Say(t, s, "talk", "user", "the weather is fine today")
	}
	storetest.Compact(t, s, "talk")
	v := storetest.View(t, s)
	for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(v)) {
		if c.Tombstone.IsZero() {
			storetest.Must[summaries.Evicted](t)(s.Summaries.Evict(context.Background(), c.ID))
		}
	}
	storetest.Compact(t, s, "talk")
	for budget, want := range map[int]bool{0: false, 900: true} {
		o := view.Options{Budget: budget}
		in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), "talk",
			history.MainBranch, o))
		if len(in.Tombstones) == 0 {
			t.Fatal("nothing is evicted")
		}
		out := string(storetest.Must[view.Output](t)(view.Render(in, o)).Bytes)
		if got := strings.Contains(out, "\npostgres migration schema port 7"); got != want {
			t.Errorf("budget %d: %v in\n%s", budget, got, out)
		}
	}
}

// B4: tombstones do not grow the context: the newest twenty have a line, the rest one together.
func TestB4TwentyTombstones(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=1", "window.evict_at=1",
		"forest.max_cold_clusters=1", "forest.merge_threshold=1")
	for i := range 60 {
		storetest.Say(t, s, "talk", "user", fmt.Sprintf("subject%d word%d thing%d", i, i, i))
	}
	if done := storetest.Compact(t, s, "talk"); done.Evicted < 50 {
		t.Fatalf("evicted %d", done.Evicted)
	}
	out := storetest.Render(t, s, "talk", 0)
	if n := strings.Count(string(out.Bytes), "<evicted "); n > 20 {
		t.Errorf("%d tombstone lines", n)
	}
	storetest.Check(t, s)
}

// B5: eviction takes a cluster out of the rendered context and nothing else.
func TestB5EvictedExpands(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=2", "window.evict_at=3",
		"forest.max_cold_clusters=1", "forest.merge_threshold=0.9")
	ids := storetest.Talk(t, s, "talk", 30, 1)
	storetest.Compact(t, s, "talk")
	seen := map[format.ID]bool{}
	stones := 0
	for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(
		s.Recall.Clusters(storetest.View(t, s))) {
		id := c.ID
		if !c.Tombstone.IsZero() {
			stones++
			id = c.Tombstone
		}
		err := s.Recall.Expand(storetest.View(t, s), id,
			recall.ExpandOptions{Session: "talk", Branch: history.MainBranch},
			func(e *history.Shown) error {
				seen[e.ID] = true
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	if stones == 0 {
		t.Fatal("nothing was evicted")
	}
	for _, id := range ids[:len(ids)-3] {
		if !seen[id] {
			t.Errorf("entry %v expands from nothing", id)
		}
	}
}
