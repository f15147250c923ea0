package conversation_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// D1: the same source with other content is a newer version, shown in the first one's place;
// nothing is dropped.
func TestD1SameSourceOtherContent(t *testing.T) {
	s := storetest.Create(t)
	ctx := context.Background()
	src := &conversation.Source{Agent: "test", Session: "x", Message: "m1"}
	add := func(text string) conversation.Appended {
		t.Helper()
		done, _, err := s.Conversation.Append(ctx, "talk", history.MainBranch,
			[]conversation.Message{{Role: "model", Text: text, Source: src}},
			conversation.AppendOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return done[0]
	}
	first := add("half an answer")
	storetest.Say(t, s, "talk", "user", "go on")
	second := add("the whole answer")
	if !second.Amended || second.Known {
		t.Errorf("second: %+v", second)
	}
	if again := add("half an answer"); !again.Known || again.ID != first.ID {
		t.Errorf("again: %+v", again)
	}
	if again := add("the whole answer"); !again.Known || again.ID != first.ID {
		t.Errorf("again: %+v", again)
	}
	if got := fmt.Sprint(storetest.Texts(t, s)[history.RefName("talk", history.MainBranch)]); got !=
		"[the whole answer go on]" {
		t.Errorf("log: %s", got)
	}
	storetest.Check(t, s)
}
