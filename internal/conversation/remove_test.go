package conversation_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/internal/storetest"
)

// B7, D7: what no session reaches any more leaves the forest, and every summary that was made of it
// goes.
func TestB7D7RemovedSessionLeavesTheForest(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Say(t, s, "secretive", "user", "the wombat password policy")
	storetest.Talk(t, s, "secretive", 20, 1)
	storetest.Talk(t, s, "talk", 20, 1) // the same topics, the same clusters
	storetest.Compact(t, s, "talk")
	if _, err := s.Conversation.RemoveSession(context.Background(), "secretive"); err != nil {
		t.Fatal(err)
	}
	storetest.Check(t, s)
	storetest.Compact(t, s, "talk")
	storetest.Check(t, s)
	if out := storetest.Render(t, s, "talk", 0); bytes.Contains(out.Bytes, []byte("wombat")) {
		t.Error("a removed session speaks from a summary")
	}
	if _, err := s.Conversation.Undo(context.Background(), "secretive"); err != nil {
		t.Errorf("undo of session rm: %v", err)
	}
	storetest.Check(t, s)
}
