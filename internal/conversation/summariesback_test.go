package conversation_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// coversNow are the covers of all clusters of a forest, live or evicted, by the cluster's number.
func coversNow(t testing.TB, s *session.Store, name string) map[uint64][]format.Cover {
	t.Helper()
	covers := map[uint64][]format.Cover{}
	for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(
		s.Clusters.Infos(
			storetest.Must[*forest.State](t)(s.History.ForestOf(storetest.View(t, s), name)))) {
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

// What an undo or a redo brings back has the summaries that it had, each time: after a rewind,
// after an import that was undone, in the flat forest, and where a compaction has been there
// meanwhile without a model.
func TestUndoBringsSummariesBack(t *testing.T) {
	c := context.Background()
	model := &storetest.Summarizer{Most: 100_000,
		Say: func(summarize.Request) (summarize.Response, error) {
			return storetest.Told(storetest.SummaryText), nil
		}}
	for name, settings := range map[string][]string{"one cluster": storetest.OneCluster,
		"many": storetest.Small} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Create(t, settings...)
			storetest.SayMany(t, s, "talk", 40)
			storetest.CompactBy(t, s, model, "talk")
			storetest.Must[summaries.Compaction](t)(
				s.Compaction.Compact(c,
					compaction.CompactOptions{Strategy: clusters.Flat,
						Branches: []history.BranchName{{Session: "talk",
							Branch: history.MainBranch}}}))
			log := storetest.Must[[]*history.Shown](t)(
				s.Recall.Log(
					storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
						history.MainBranch)).ID, recall.LogOptions{}))
			want, flat := coversNow(t, s, history.MainForest), coversNow(t, s, history.FlatForest)
			for _, to := range []int{30, 2, 38} {
				storetest.Must[conversation.Rewound](t)(
					s.Conversation.Rewind(c, "talk", history.MainBranch, log[to].ID,
						conversation.RewindOptions{}))
				if to == 30 {
					storetest.CompactBy(t, s, nil, "talk") // an extract stands for what is left
				}
				for range 2 {
					storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "talk"))
					sameCovers(t, "main", coversNow(t, s, history.MainForest), want)
					sameCovers(t, "undo of a rewind, flat",
						coversNow(t, s, history.FlatForest), flat)
					storetest.Must[conversation.Undone](t)(s.Conversation.Redo(c, "talk"))
				}
				storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "talk"))
				storetest.Check(t, s)
			}
			storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "talk")) // what was said
			storetest.Must[conversation.Undone](t)(s.Conversation.Redo(c, "talk"))
			sameCovers(t, "main", coversNow(t, s, history.MainForest), want)
			sameCovers(t, "undo and redo of an append, flat",
				coversNow(t, s, history.FlatForest), flat)
			storetest.Check(t, s)
		})
	}
}

// A summary does not come back over words that another session has changed meanwhile in the same
// cluster, nor with words that were forgotten.
func TestUndoKeepsWhatChangedMeanwhile(t *testing.T) {
	c := context.Background()
	s := storetest.Create(t, storetest.OneCluster...)
	storetest.AppendOne(t, s, "other",
		storetest.Sourced("user", "the one subject, said first elsewhere", "m1"))
	storetest.AppendOne(t, s, "other",
		storetest.Sourced("user", "the one subject, and so on", "m2"))
	storetest.SayMany(t, s, "talk", 20)
	model := &storetest.Summarizer{Most: 100_000,
		Say: func(summarize.Request) (summarize.Response, error) {
			return storetest.Told(storetest.SummaryText), nil
		}}
	storetest.CompactBy(t, s, model, "talk", "other")
	if n := len(storetest.TheCluster(t, s).Covers); n != 1 {
		t.Fatalf("%d covers", n)
	}
	log := storetest.Must[[]*history.Shown](t)(
		s.Recall.Log(
			storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
				history.MainBranch)).ID, recall.LogOptions{}))
	storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(c, "talk", history.MainBranch,
		log[10].ID, conversation.RewindOptions{}))
	storetest.AppendOne(t, s, "other",
		storetest.Sourced("user", "the one subject, in other words now", "m1"))
	storetest.Must[conversation.Undone](t)(s.Conversation.Undo(c, "talk"))
	if covers := storetest.TheCluster(t, s).Covers; slices.ContainsFunc(covers,
		func(v format.Cover) bool { return !v.Interim && v.Offset == 0 }) {
		t.Errorf("covers %+v: a summary of words that have changed is back", covers)
	}
	storetest.Check(t, s)
}
