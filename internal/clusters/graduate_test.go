package clusters_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// B11: an old transcript is not evicted because its clock is old: arrival counts.
func TestB11ArrivalNotClock(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=1", "window.evict_at=1",
		"forest.max_cold_clusters=1", "forest.merge_threshold=1")
	ctx := context.Background()
	for i, when := range []int{2026, 2026, 1999, 2026} {
		m := conversation.Message{Role: "user", Text: fmt.Sprintf("subject%d matter%d", i, i),
			Time: time.Date(when, 1, 1, 0, 0, 0, 0, time.UTC)}
		if _, _, err := s.Conversation.Append(ctx, "talk", history.MainBranch,
			[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Compact(t, s, "talk")
	for _, c := range storetest.Must[[]clusters.ClusterInfo](t)(
		s.Recall.Clusters(storetest.View(t, s))) {
		if live := c.Tombstone.IsZero(); live != (c.First.Time.Year() == 1999) {
			t.Errorf("cluster %d of %d: live %v", c.Number, c.First.Time.Year(), live)
		}
	}
}
