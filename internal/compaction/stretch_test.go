package compaction_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A long backlog that is compacted stretch by stretch has the clusters that it has otherwise, and
// each of them a summary.
func TestStretches(t *testing.T) {
	var want []string
	for _, messages := range []int{1 << 20, 1500} {
		restore := compaction.SetStretch(messages)
		s := storetest.Create(t, "forest.max_cold_clusters=4")
		for _, session := range []string{"one", "two"} {
			var list []conversation.Message
			for i := range 3000 {
				topic := storetest.Topics[(i/7+i/900)%len(storetest.Topics)]
				list = append(list, conversation.Message{
					Role: []string{"user", "model"}[i%2],
					Text: fmt.Sprintf(topic, i%5) + fmt.Sprintf(", said %d of %s", i, session),
				})
			}
			o := conversation.AppendOptions{NoGraduation: true}
			if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch,
				list, o); err != nil {
				t.Fatal(err)
			}
		}
		done := storetest.Compact(t, s, "one", "two")
		restore()
		if done.Dirty > 0 || done.Failed+done.Lost > 0 || done.Evicted == 0 {
			t.Fatalf("%+v", done)
		}
		storetest.Check(t, s)
		st := storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s)))
		var got []string
		for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(s.Clusters.Infos(st)) {
			got = append(got, fmt.Sprint(c.Number, c.ID, c.Count))
		}
		slices.Sort(got)
		if want == nil {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("%d clusters, and %d of them in one go", len(got), len(want))
		}
		t.Logf("%d clusters, %d summaries, %d evicted", len(got), done.Settled, done.Evicted)
	}
}
