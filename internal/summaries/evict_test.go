package summaries_test

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// TestCapCountsPerSession: each session keeps its newest clusters, however many the others have.
func TestCapCountsPerSession(t *testing.T) {
	s := labelled(t, "forest.max_cold_clusters=2")
	live := func() map[string][]uint64 {
		bySession := map[string][]uint64{}
		for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(
			s.Recall.Clusters(storetest.View(t, s))) {
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
	storetest.Compact(t, s, "a")
	after := live()
	for session, was := range before {
		slices.Sort(was)
		now := after[session]
		slices.Sort(now)
		if want := was[max(0, len(was)-2):]; !slices.Equal(now, want) {
			t.Errorf("session %s keeps the clusters that arrived at %v, want %v",
				session, now, want)
		}
	}
	storetest.Compact(t, s, "b")
	if again := live(); len(again["a"]) != 2 || len(again["b"]) != 2 || len(again["talk"]) != 2 {
		t.Errorf("live clusters after another compaction: %v", again)
	}
	storetest.Check(t, s)
}
