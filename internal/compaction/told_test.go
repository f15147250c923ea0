package compaction_test

import (
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A session is over, and a compaction of another one summarizes its clusters. Long after it, a
// compaction of both moves the pin of the first if a model wrote the summaries, and leaves it
// where they are extracts, of which a rendering says no more than before.
func TestWordsMoveThePin(t *testing.T) {
	short := func(summarize.Request) (summarize.Response, error) {
		return storetest.Told("They talked."), nil
	}
	for what, by := range map[string]summarize.Summarizer{
		"extracts": nil,
		"words":    &storetest.Summarizer{Most: 1 << 20, Say: short},
	} {
		t.Run(what, func(t *testing.T) {
			s := storetest.Create(t, "window.graduate_at=4", "window.evict_at=6")
			for i := range 16 {
				storetest.Say(t, s, "over", "user", fmt.Sprintf("The lamp of buoy %d blinks twice, "+
					"so the keeper changed its wick and wrote that into the log of lamps.", i))
				storetest.Say(t, s, "other", "user", fmt.Sprintf("Sheep %d grazes above the "+
					"orchard, where shepherds mend the gate and count every animal.", i))
			}
			storetest.CompactBy(t, s, by, "other")
			pin := func(session string) format.ID {
				return storetest.View(t, s).Get(history.RefName(session, history.MainBranch)).Pin
			}
			over, other := pin("over"), pin("other")
			for range 2 {
				storetest.Compact(t, s, "over", "other")
			}
			if moved := pin("over") != over; moved != (by != nil) {
				t.Errorf("the pin moved: %v", moved)
			}
			if pin("other") != other {
				t.Error("the pin of the other session moved")
			}
		})
	}
}
