package compaction_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A compaction of several batches, which go on with the forest of the one before, leaves what the
// log says, a short log, and the same forest on one processor and on several.
func TestManyBatches(t *testing.T) {
	var forests []format.ID
	for _, processors := range []int{1, 4} {
		before := runtime.GOMAXPROCS(processors)
		s := storetest.Create(t, "window.graduate_at=4", "window.evict_at=40",
			"forest.max_cold_clusters=5", "forest.merge_threshold=1")
		var batch []conversation.Message
		for i := range 2500 {
			batch = append(batch,
				conversation.Message{Role: []string{"user", "model"}[i/2%2],
					Text: fmt.Sprintf("The port of server%d is %d. Build it in app/part%d.go now.",
						i, 4000+i, i%90)})
		}
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			batch, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
		done := storetest.Compact(t, s, "talk")
		runtime.GOMAXPROCS(before)
		if done.Dirty > 0 || done.Roots != 5 || done.Evicted < 1000 {
			t.Errorf("%+v", done)
		}
		storetest.Check(t, s)
		view := storetest.View(t, s)
		if view.Overlay() >= history.LongOverlay {
			t.Errorf("the log after the checkpoint has %d bytes", view.Overlay())
		}
		forests = append(forests, view.Get(history.ForestRef).ID)
		storetest.Compact(t, s, "talk")
		if again := storetest.View(t, s).Number; again != view.Number {
			t.Error("compaction again made an operation")
		}
	}
	if forests[0] != forests[1] {
		t.Errorf("forests %v", forests)
	}
}
