package recall_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

func renderBranch(t testing.TB, s *session.Store, session, branch string, o view.Options) string {
	t.Helper()
	in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s),
		session, branch, o))
	return string(storetest.Must[view.Output](t)(view.Render(in, o)).Bytes)
}

// A line from the past renders nothing of what was said after it on the line that it comes from,
// nor the other way round: not before either is compacted, not after, not under a budget, not from
// clusters that were evicted, and not by a summary that a model wrote of both. What both stand on
// both render.
func TestLinesDoNotRenderEachOther(t *testing.T) {
	for name, settings := range map[string][]string{
		"live":    {"window.graduate_at=4", "window.evict_at=6", "forest.max_cold_clusters=50"},
		"evicted": {"window.graduate_at=4", "window.evict_at=6", "forest.max_cold_clusters=2"},
		"one":     {"window.graduate_at=4", "window.evict_at=6", "forest.merge_threshold=0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Create(t, settings...)
			c := context.Background()
			var ids []format.ID
			talk := func(branch, word string, n int) {
				for i := range n {
					ids = append(ids,
						storetest.SayOn(t, s, branch, "user",
							fmt.Sprintf("%s turn %d about component value v%d", word, i, i)))
				}
			}
			talk(history.MainBranch, "common", 20)
			talk(history.MainBranch, "mainly", 20)
			if _, err := s.Conversation.Fork(c, "talk", history.MainBranch, []string{"past"},
				conversation.ForkOptions{At: ids[19]}); err != nil {
				t.Fatal(err)
			}
			holds := func(when string) {
				t.Helper()
				for _, o := range []view.Options{{}, {Budget: 2000}, {Format: view.JSON}} {
					main, past := renderBranch(t, s, "talk", history.MainBranch, o),
						renderBranch(t, s, "talk", "past", o)
					if strings.Contains(past, "mainly") || strings.Contains(main, "lately") {
						t.Fatalf("%s, %+v: a line renders the other one:\n%s\n%s", when,
							o, past, main)
					}
					if !strings.Contains(past, "common") || !strings.Contains(main, "common") {
						t.Errorf("%s, %+v: what both stand on is not rendered", when, o)
					}
				}
			}
			holds("after the fork")
			talk("past", "lately", 20)
			holds("after both went on")
			both := compaction.CompactOptions{Branches: []history.BranchName{
				{Session: "talk", Branch: history.MainBranch}, {Session: "talk", Branch: "past"},
			}}
			storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(c, both))
			holds("after a compaction")
			for _, cl := range storetest.Must[[]clusters.ClusterInfo](t)(
				s.Recall.Clusters(storetest.View(t, s))) {
				if !cl.Tombstone.IsZero() {
					continue
				}
				claim := storetest.Must[[]edits.ReplaceClaim](t)(
					s.Edits.BeginReplace(storetest.View(t, s), "talk", history.MainBranch, nil,
						[]format.ID{cl.ID}))[0]
				var said []string
				for _, in := range claim.Inputs {
					if word, _, _ := strings.Cut(in.Text, " "); !slices.Contains(said, word) {
						said = append(said, word)
					}
				}
				storetest.Must[edits.Replaced](t)(storetest.CommitReplace(s, claim.ID,
					strings.Join(said, " ")))
			}
			storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(c, both))
			holds("after a model has summarized both")
		})
	}
}
