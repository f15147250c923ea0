package summaries_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// B13: a large cluster's summary is made of summaries a few times, and then of the entries again.
func TestB13GenerationsEnd(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=1", "window.evict_at=400",
		"forest.merge_threshold=0")
	var generations []uint64
	for round := range 7 {
		var batch []conversation.Message
		for i := range summaries.WholeCluster/2 + 20 {
			batch = append(batch,
				conversation.Message{Role: "user",
					Text: fmt.Sprintf("the one subject, round %d number %d", round, i)})
		}
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			batch, conversation.AppendOptions{NoGraduation: true}); err != nil {
			t.Fatal(err)
		}
		storetest.Compact(t, s, "talk")
		clusters := storetest.Must[[]clusters.ClusterInfo](t)(
			s.Recall.Clusters(storetest.View(t, s)))
		if len(clusters) != 1 || len(clusters[0].Covers) != 1 {
			t.Fatalf("round %d: %d clusters", round, len(clusters))
		}
		_, g, err := s.Summaries.ReadExtract(clusters[0].Covers[0].Summary)
		if err != nil {
			t.Fatal(err)
		}
		generations = append(generations, g)
	}
	if got := fmt.Sprint(generations); got != "[1 2 3 4 1 2 3]" {
		t.Errorf("generations %s", got)
	}
}
