package history_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A backlog gives every message after the frontier, in order; one that was amended comes with the
// id of its latest version.
func TestBacklog(t *testing.T) {
	s := storetest.Create(t)
	const messages = 3000
	var list []conversation.Message
	for i := range messages {
		list = append(list, conversation.Message{
			Role: "user", Text: fmt.Sprintf("message %d", i),
			Source: &conversation.Source{Agent: "test", Session: "x", Message: fmt.Sprint(i)},
		})
	}
	o := conversation.AppendOptions{NoGraduation: true}
	done, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, list, o)
	if err != nil {
		t.Fatal(err)
	}
	amended := map[format.ID]bool{}
	for _, i := range []int{0, 700, messages - 1} {
		list[i].Text = "said in another way"
		amended[done[i].ID] = true
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			list[i:i+1], o); err != nil {
			t.Fatal(err)
		}
	}
	v := storetest.View(t, s).Get(history.RefName("talk", history.MainBranch))
	b := storetest.Must[*history.Head](t)(s.History.Backlog("talk", history.MainBranch, v))
	var got, want []format.ID
	for _, it := range b.Items {
		got = append(got, it.ID)
		if (it.Version != "") != amended[it.ID] {
			t.Errorf("message %v has version %q", it.ID, it.Version)
		}
	}
	for _, d := range done {
		want = append(want, d.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d messages, %d were said, in order %v", len(got), len(want),
			slices.Equal(got, want))
	}
}
