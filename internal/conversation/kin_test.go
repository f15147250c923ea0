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

// An append reads nothing of what was said long ago, however many branches there are and however
// long one of them has been waiting: it works although those objects are not there.
func TestAppendBesideOpenChildrenReadsNoHistory(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Say(t, s, "s", "user", "begin")
	storetest.Must[conversation.Forked](t)(s.Conversation.Fork(context.Background(), "s",
		history.MainBranch, []string{"failed", "works"}, conversation.ForkOptions{}))
	sayIn(t, s, "failed", "I have half of")
	for i := range 60 {
		for _, b := range []string{history.MainBranch, "works"} {
			sayIn(t, s, b, fmt.Sprintf("%s says %d", b, i))
		}
	}
	storetest.Spread(t, s)
	var gone []format.ID
	for _, b := range []string{history.MainBranch, "works"} {
		n := 0
		for e, err := range s.History.Walk(storetest.View(t, s).Get(history.RefName("s", b)).ID,
			history.WithJoined) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n > 20 {
				gone = append(gone, e.ID)
			}
			if e.Seq <= 2 {
				break
			}
		}
	}
	if n := storetest.Lose(t, s, gone...); n < 70 {
		t.Fatalf("%d objects are gone", n)
	}
	for _, m := range []conversation.Message{{Role: "model", Text: "more"},
		{Role: "user", Text: "a prompt that names no invocation"}} {
		for _, b := range []string{history.MainBranch, "works", "failed"} {
			if _, _, err := s.Conversation.Append(context.Background(), "s", b,
				[]conversation.Message{m}, conversation.AppendOptions{}); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
	if list := storetest.Must[[]string](t)(s.History.OpenChildren(storetest.View(t, s), "s",
		history.MainBranch)); len(list) != 2 {
		t.Errorf("main has the children %q", list)
	}
}

// What a head remembers of children is right after an undo that brings one back.
func TestUndoBringsChildrenBack(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Say(t, s, "s", "user", "begin")
	fork := func(parent string, children ...string) {
		storetest.Must[conversation.Forked](t)(s.Conversation.Fork(context.Background(), "s",
			parent, children, conversation.ForkOptions{}))
	}
	fork(history.MainBranch, "waits")
	fork(history.MainBranch, "a", "b")
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(context.Background(), "s",
		history.MainBranch, []string{"a"}, conversation.JoinOptions{}))
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(context.Background(), "s",
		history.MainBranch, []string{"b"}, conversation.JoinOptions{}))
	sayIn(t, s, history.MainBranch, "only one waits now")
	for _, want := range []int{1, 2, 3} {
		if list := storetest.Must[[]string](t)(s.History.OpenChildren(storetest.View(t, s), "s",
			history.MainBranch)); want > 1 && len(list) != want-1 {
			t.Errorf("main has the children %q, want %d", list, want-1)
		}
		storetest.Must[conversation.Undone](t)(s.Conversation.Undo(context.Background(), "s"))
	}
	if list := storetest.Must[[]string](t)(s.History.OpenChildren(storetest.View(t, s), "s",
		history.MainBranch)); len(list) != 3 {
		t.Errorf("main has the children %q, want 3", list)
	}
	sayIn(t, s, history.MainBranch, "three wait")
	storetest.Must[conversation.Joined](t)(s.Conversation.Join(context.Background(), "s",
		history.MainBranch, []string{"a", "b", "waits"}, conversation.JoinOptions{}))
}
