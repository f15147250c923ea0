package session

import (
	"context"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// coversNow are the covers of all clusters of a forest, live or evicted, by the cluster's number.
func coversNow(t testing.TB, s *Store, name string) map[uint64][]format.Cover {
	t.Helper()
	covers := map[uint64][]format.Cover{}
	for _, c := range must[[]ClusterInfo](t)(s.clustersOf(must[*forest.State](t)(s.ForestOf(s.mustView(t), name)))) {
		covers[c.Number] = c.Covers
	}
	return covers
}

func sameCovers(t testing.TB, what string, got, want map[uint64][]format.Cover) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d clusters, want %d", what, len(got), len(want))
	}
	for n, covers := range want {
		if !slices.Equal(got[n], covers) {
			t.Errorf("%s: cluster %d has %+v, want %+v", what, n, got[n], covers)
		}
	}
}

// What an undo or a redo brings back has the summaries that it had, each time: after a rewind, after an import that was undone, in the flat forest, and
// where a compaction has been there meanwhile without a model.
func TestUndoBringsSummariesBack(t *testing.T) {
	c := context.Background()
	model := &talker{limit: 100_000, say: func(summarize.Ask) (summarize.Told, error) { return toldBy(standingText), nil }}
	for name, settings := range map[string][]string{"one cluster": one, "many": small} {
		t.Run(name, func(t *testing.T) {
			s := create(t, settings...)
			bulk(t, s, "talk", 40)
			compactBy(t, s, model, "talk")
			must[Compaction](t)(s.Compact(c, CompactOptions{Strategy: Flat, Branches: []BranchName{{"talk", MainBranch}}}))
			log := must[[]*Shown](t)(s.Log(must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch)).ID, LogOptions{}))
			want, flat := coversNow(t, s, MainForest), coversNow(t, s, FlatForest)
			for _, to := range []int{30, 2, 38} {
				must[Rewound](t)(s.Rewind(c, "talk", MainBranch, log[to].ID, RewindOptions{}))
				if to == 30 {
					compactBy(t, s, nil, "talk") // an extract stands for what is left
				}
				for range 2 {
					must[Undone](t)(s.Undo(c, "talk"))
					sameCovers(t, "main", coversNow(t, s, MainForest), want)
					sameCovers(t, "undo of a rewind, flat", coversNow(t, s, FlatForest), flat)
					must[Undone](t)(s.Redo(c, "talk"))
				}
				must[Undone](t)(s.Undo(c, "talk"))
				check(t, s)
			}
			must[Undone](t)(s.Undo(c, "talk")) // what was said
			must[Undone](t)(s.Redo(c, "talk"))
			sameCovers(t, "main", coversNow(t, s, MainForest), want)
			sameCovers(t, "undo and redo of an append, flat", coversNow(t, s, FlatForest), flat)
			check(t, s)
		})
	}
}

// A summary does not come back over words that another session has changed meanwhile in the same cluster, nor with words that were forgotten.
func TestUndoKeepsWhatChangedMeanwhile(t *testing.T) {
	c := context.Background()
	s := create(t, one...)
	put(t, s, "other", sourced("user", "the one subject, said first elsewhere", "m1"))
	put(t, s, "other", sourced("user", "the one subject, and so on", "m2"))
	bulk(t, s, "talk", 20)
	model := &talker{limit: 100_000, say: func(summarize.Ask) (summarize.Told, error) { return toldBy(standingText), nil }}
	compactBy(t, s, model, "talk", "other")
	if n := len(onlyCluster(t, s).Covers); n != 1 {
		t.Fatalf("%d covers", n)
	}
	log := must[[]*Shown](t)(s.Log(must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch)).ID, LogOptions{}))
	must[Rewound](t)(s.Rewind(c, "talk", MainBranch, log[10].ID, RewindOptions{}))
	put(t, s, "other", sourced("user", "the one subject, in other words now", "m1"))
	must[Undone](t)(s.Undo(c, "talk"))
	if covers := onlyCluster(t, s).Covers; slices.ContainsFunc(covers, func(v format.Cover) bool { return !v.Interim && v.Offset == 0 }) {
		t.Errorf("covers %+v: a summary of words that have changed is back", covers)
	}
	check(t, s)
}
