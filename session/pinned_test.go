package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/view"
)

func renderBranch(t testing.TB, s *Store, session, branch string, o view.Options) string {
	t.Helper()
	in := must[view.Input](t)(s.RenderInput(s.mustView(t), session, branch, o))
	return string(must[view.Output](t)(view.Render(in, o)).Bytes)
}

// A line from the past renders nothing of what was said after it on the line that it comes from, nor the other way round: not before either is compacted,
// not after, not under a budget, not from clusters that were evicted, and not by a summary that a model wrote of both. What both stand on both render.
func TestLinesDoNotRenderEachOther(t *testing.T) {
	for name, settings := range map[string][]string{
		"live":    {"window.graduate_at=4", "window.evict_at=6", "forest.max_cold_clusters=50"},
		"evicted": {"window.graduate_at=4", "window.evict_at=6", "forest.max_cold_clusters=2"},
		"one":     {"window.graduate_at=4", "window.evict_at=6", "forest.merge_threshold=0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t, settings...)
			c := context.Background()
			var ids []format.ID
			talk := func(branch, word string, n int) {
				for i := range n {
					ids = append(ids, sayTo(t, s, branch, "user", fmt.Sprintf("%s turn %d about component value v%d", word, i, i)))
				}
			}
			talk(MainBranch, "common", 20)
			talk(MainBranch, "mainly", 20)
			if _, err := s.Fork(c, "talk", MainBranch, []string{"past"}, ForkOptions{At: ids[19]}); err != nil {
				t.Fatal(err)
			}
			holds := func(when string) {
				t.Helper()
				for _, o := range []view.Options{{}, {Budget: 2000}, {Format: view.JSON}} {
					main, past := renderBranch(t, s, "talk", MainBranch, o), renderBranch(t, s, "talk", "past", o)
					if strings.Contains(past, "mainly") || strings.Contains(main, "lately") {
						t.Fatalf("%s, %+v: a line renders the other one:\n%s\n%s", when, o, past, main)
					}
					if !strings.Contains(past, "common") || !strings.Contains(main, "common") {
						t.Errorf("%s, %+v: what both stand on is not rendered", when, o)
					}
				}
			}
			holds("after the fork")
			talk("past", "lately", 20)
			holds("after both went on")
			both := CompactOptions{Branches: []BranchName{{"talk", MainBranch}, {"talk", "past"}}}
			must[Compaction](t)(s.Compact(c, both))
			holds("after a compaction")
			for _, cl := range must[[]ClusterInfo](t)(s.Clusters(s.mustView(t))) {
				if !cl.Tombstone.IsZero() {
					continue
				}
				claim := must[[]ReplaceClaim](t)(s.BeginReplace(s.mustView(t), "talk", MainBranch, nil, []format.ID{cl.ID}))[0]
				var said []string
				for _, in := range claim.Inputs {
					if word, _, _ := strings.Cut(in.Text, " "); !slices.Contains(said, word) {
						said = append(said, word)
					}
				}
				must[Replaced](t)(commit(s, claim.ID, strings.Join(said, " ")))
			}
			must[Compaction](t)(s.Compact(c, both))
			holds("after a model has summarised both")
		})
	}
}
