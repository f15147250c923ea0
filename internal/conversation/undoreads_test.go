package conversation_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// counted counts what is read of a store.
type counted struct {
	history.Objects
	n int
}

func (c *counted) Get(id format.ID) (format.Raw, error) { c.n++; return c.Objects.Get(id) }

func (c *counted) Header(id format.ID) ([]byte, error) { c.n++; return c.Objects.Header(id) }

// A rewind of the newest messages and its undo read about as much in a large forest as in a small
// one, whether or not members return.
func TestUndoReadsNoWholeForest(t *testing.T) {
	for _, back := range []int{1, 15} {
		var reads []int
		for _, messages := range []int{150, 600} {
			s := storetest.Create(t, "window.graduate_at=8", "window.evict_at=12",
				"forest.max_cold_clusters=3", "forest.merge_threshold=1")
			var batch []conversation.Message
			for i := range messages {
				batch = append(batch,
					conversation.Message{Role: "user",
						Text: fmt.Sprintf("the port of server%d is %d", i, 4000+i)})
			}
			added, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
				batch, conversation.AppendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			storetest.Compact(t, s, "talk")
			counter := &counted{Objects: s.History.Objects}
			s.History.Objects = counter
			storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(),
				"talk", history.MainBranch, added[messages-back].ID, conversation.RewindOptions{}))
			done := storetest.Must[conversation.Undone](t)(
				s.Conversation.Undo(context.Background(), "talk"))
			if back > 8 && done.Restored == 0 {
				t.Fatalf("%d messages back: %+v", back, done)
			}
			reads = append(reads, counter.n)
			storetest.Check(t, s)
		}
		if reads[1] > reads[0]+reads[0]/4 {
			t.Errorf(
				"%d messages back: %d reads in a small forest, %d in one of four times the size",
				back, reads[0], reads[1])
		}
		t.Log(reads)
	}
}

// Nor does it read the messages of the branch that wait to graduate, however many.
func TestUndoReadsNoWaitingMessages(t *testing.T) {
	var reads []int
	for _, messages := range []int{150, 600} {
		s := storetest.Create(t, "window.graduate_at=8", "window.evict_at=12")
		var batch []conversation.Message
		for i := range messages {
			batch = append(batch,
				conversation.Message{Role: "user",
					Text: fmt.Sprintf("the port of server%d is %d", i, 4000+i)})
		}
		added, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			batch, conversation.AppendOptions{NoGraduation: true})
		if err != nil {
			t.Fatal(err)
		}
		counter := &counted{Objects: s.History.Objects}
		s.History.Objects = counter
		storetest.Must[conversation.Rewound](t)(s.Conversation.Rewind(context.Background(), "talk",
			history.MainBranch, added[messages-1].ID, conversation.RewindOptions{}))
		before := counter.n
		storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "talk"))
		reads = append(reads, counter.n-before)
		storetest.Check(t, s)
	}
	if reads[1] > reads[0]+reads[0]/4+4 {
		t.Errorf("%d reads where 150 messages wait, %d where 600 do", reads[0], reads[1])
	}
	t.Log(reads)
}
