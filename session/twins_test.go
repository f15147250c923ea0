package session

import (
	"context"
	"testing"
	"time"
)

// Two children that say the same first words at the same time have said two things.
func TestSameWordsOfTwoChildren(t *testing.T) {
	s := create(t)
	ctx := context.Background()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	say := func(branch, text string) Appended {
		t.Helper()
		done, _, err := s.Append(ctx, "s", branch, []Message{{Role: "model", Text: text, Time: at}}, AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0]
	}
	say(MainBranch, "go")
	if _, err := s.Fork(ctx, "s", MainBranch, []string{"a", "b"}, ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	if one, other := say("a", "done"), say("b", "done"); one.ID == other.ID {
		t.Fatal("both messages are one entry")
	}
	joined, err := s.Join(ctx, "s", MainBranch, []string{"a", "b"}, JoinOptions{})
	if err != nil || joined.Messages != 2 {
		t.Fatalf("the join brought %d messages, %v; want 2", joined.Messages, err)
	}
}
