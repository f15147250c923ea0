package session

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/session/view"
)

// Under a budget what was evicted is rendered beside the rest.
func TestRenderEvicted(t *testing.T) {
	s := create(t, small...)
	for _, topic := range topics {
		for range 3 {
			say(t, s, "talk", "user", strings.ReplaceAll(topic, "%d", "7"))
		}
	}
	for range 8 {
		say(t, s, "talk", "user", "the weather is fine today")
	}
	compact(t, s, "talk")
	v := s.mustView(t)
	for _, c := range must[[]ClusterInfo](t)(s.Clusters(v)) {
		if c.Tombstone.IsZero() {
			must[Evicted](t)(s.Evict(context.Background(), c.ID))
		}
	}
	compact(t, s, "talk")
	for budget, want := range map[int]bool{0: false, 900: true} {
		o := view.Options{Budget: budget}
		in := must[view.Input](t)(s.RenderInput(s.mustView(t), "talk", MainBranch, o))
		if len(in.Tombstones) == 0 {
			t.Fatal("nothing is evicted")
		}
		out := string(must[view.Output](t)(view.Render(in, o)).Bytes)
		if got := strings.Contains(out, "postgres migration schema port 7"); got != want {
			t.Errorf("budget %d: %v in\n%s", budget, got, out)
		}
	}
}

// TestCapCountsPerSession: each session keeps its newest clusters, however many the others have.
func TestCapCountsPerSession(t *testing.T) {
	s := labelled(t, "forest.max_cold_clusters=2")
	live := func() map[string][]uint64 {
		bySession := map[string][]uint64{}
		for _, c := range must[[]ClusterInfo](t)(s.Clusters(s.mustView(t))) {
			if c.Tombstone.IsZero() {
				bySession[c.Last.Session] = append(bySession[c.Last.Session], c.Arrival)
			}
		}
		return bySession
	}
	before := live()
	if len(before["a"]) < 3 || len(before["b"]) < 3 || len(before["talk"]) != 2 {
		t.Fatalf("live clusters before: %v", before)
	}
	compact(t, s, "a")
	after := live()
	for session, was := range before {
		slices.Sort(was)
		now := after[session]
		slices.Sort(now)
		if want := was[max(0, len(was)-2):]; !slices.Equal(now, want) {
			t.Errorf("session %s keeps the clusters that arrived at %v, want %v", session, now, want)
		}
	}
	compact(t, s, "b")
	if again := live(); len(again["a"]) != 2 || len(again["b"]) != 2 || len(again["talk"]) != 2 {
		t.Errorf("live clusters after another compaction: %v", again)
	}
	check(t, s)
}
