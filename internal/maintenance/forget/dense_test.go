package forget_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// TestForgetInDenseLog finds a name that only a dense segment of the log has.
func TestForgetInDenseLog(t *testing.T) {
	const word = "hunter22xyz"
	s := storetest.Create(t)
	ctx := context.Background()
	got, _, err := s.Conversation.Append(ctx, "s", "main",
		[]conversation.Message{storetest.Sourced("user", "hello there", "k")},
		conversation.AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		name := fmt.Sprintf("user/word-of-%d", i*7919)
		if i == 100 {
			name = "user/" + word
		}
		if err := s.State.UpdateRef(ctx, name, got[0].ID, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := gc.Run(ctx, s.Opened, gc.Options{LogFrom: 400, Best: true}); err != nil {
		t.Fatal(err)
	}
	done, err := forget.Run(ctx, s.Opened, forget.Options{Text: word})
	if err != nil || !slices.Contains(done.Remains, "refs/log-1") {
		t.Errorf("remains in %v, %v", done.Remains, err)
	}
}
