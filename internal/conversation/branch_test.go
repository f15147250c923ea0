package conversation_test

import (
	"context"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// Two children that say the same first words at the same time have said two things.
func TestSameWordsOfTwoChildren(t *testing.T) {
	s := storetest.Create(t)
	ctx := context.Background()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	say := func(branch, text string) conversation.Appended {
		t.Helper()
		done, _, err := s.Conversation.Append(ctx, "s", branch,
			[]conversation.Message{{Role: "model", Text: text, Time: at}},
			conversation.AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0]
	}
	say(history.MainBranch, "go")
	if _, err := s.Conversation.Fork(ctx, "s", history.MainBranch, []string{"a", "b"},
		conversation.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	if one, other := say("a", "done"), say("b", "done"); one.ID == other.ID {
		t.Fatal("both messages are one entry")
	}
	joined, err := s.Conversation.Join(ctx, "s", history.MainBranch, []string{"a", "b"},
		conversation.JoinOptions{})
	if err != nil || joined.Messages != 2 {
		t.Fatalf("the join brought %d messages, %v; want 2", joined.Messages, err)
	}
}
