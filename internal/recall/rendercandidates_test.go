package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
)

// A rendering of a branch in a forest of many clusters shows the clusters that it would show had it
// read all of them, and counts as many as left out.
func TestCandidates(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=4", "window.evict_at=6")
	names := []string{"early", "middle", "late"}
	for i := range 240 {
		name := names[min(i/60, 2)]
		if i%7 == 0 {
			name = names[i%3]
		}
		topic := fmt.Sprintf("kind%d", i/2*i%37*len(name))
		storetest.Say(t, s, name, "user",
			fmt.Sprintf("%s %s word%d of %s number%d", topic, topic, i, name, i))
	}
	shown := func(name string, most int) (ids []format.ID, left, others int) {
		defer recall.SetManyClusters(recall.SetManyClusters(most))
		in := storetest.Must[view.Input](t)(s.Recall.RenderInput(storetest.View(t, s), name,
			history.MainBranch, view.Options{}))
		for _, c := range in.Clusters {
			ids = append(ids, c.ID)
			if c.OthersOnly {
				others++
			}
		}
		return ids, in.OlderTombstones, others
	}
	for _, name := range names {
		all, left, others := shown(name, 1<<30)
		few, leftOfFew, _ := shown(name, 0)
		if !slices.Equal(all, few) || left != leftOfFew {
			t.Errorf("%s: %d clusters and %d left out, and of all %d and %d", name, len(few),
				leftOfFew, len(all), left)
		}
		if left == 0 || others == 0 || others == len(all) {
			t.Errorf("%s: %d clusters, %d of others, %d left out: the test tells nothing", name,
				len(all), others, left)
		}
		t.Logf("%s: %d clusters, %d of others, %d left out", name, len(all), others, left)
	}
}
