package recall_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// C7: two who bring in the same messages at the same time bring them in once.
func TestC7SourcesOnce(t *testing.T) {
	s := storetest.Create(t)
	var batch []conversation.Message
	for i := range 90 {
		batch = append(batch,
			conversation.Message{Role: "user", Text: fmt.Sprint("message ", i),
				Source: &conversation.Source{Agent: "test", Session: "x", Message: fmt.Sprint(i)}})
	}
	var wg sync.WaitGroup
	for range 4 {
		other := storetest.Reopen(t, s.Dir, nil)
		wg.Go(func() {
			for start := 0; start < len(batch); start += 30 {
				if _, _, err := other.Conversation.Append(context.Background(), "talk",
					history.MainBranch, batch[start:start+30],
					conversation.AppendOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)]
	if len(got) != 90 {
		t.Fatalf("%d messages, want 90", len(got))
	}
	storetest.Check(t, s)
}
