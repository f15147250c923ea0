package conversation_test

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// TestModelOfBranches: a child goes on with its parent's model; what it is switched to, and asked,
// stays its own, also after the join.
func TestModelOfBranches(t *testing.T) {
	s := storetest.Create(t)
	bg := context.Background()
	model := func(branch, want string) {
		t.Helper()
		if name, _, err := s.Conversation.Model(storetest.View(t, s), "talk", branch); err != nil ||
			name != want {
			t.Errorf("the model of %s is %q, %v; want %q", branch, name, err, want)
		}
	}
	storetest.Say(t, s, "talk", "user", "compare the two")
	storetest.Must[conversation.Appended](t)(s.Conversation.SetModel(bg, "talk",
		history.MainBranch, "flash"))
	if _, err := s.Conversation.Fork(bg, "talk", history.MainBranch, []string{"one", "two"},
		conversation.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	model("one", "flash")
	storetest.Must[conversation.Appended](t)(s.Conversation.SetModel(bg, "talk", "one", "pro"))
	if _, _, err := s.Conversation.Append(bg, "talk", "two",
		[]conversation.Message{{Role: "user", Text: "and you?"}},
		conversation.AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	model("one", "pro")
	model("two", "")
	model(history.MainBranch, "flash")

	// What is known of loops is of one branch.
	d, err := s.Conversation.Loop(storetest.View(t, s), "talk", history.MainBranch)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := d.Call("", "run", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Conversation.SaveLoop("talk", history.MainBranch, d); err != nil {
		t.Fatal(err)
	}
	detected := func(branch string) bool {
		t.Helper()
		d, err := s.Conversation.Loop(storetest.View(t, s), "talk", branch)
		if err != nil {
			t.Fatal(err)
		}
		return d.Verdict().Detected
	}
	if !detected(history.MainBranch) || detected("one") {
		t.Error("a loop of one branch is known of another, or not of its own")
	}
	if _, err := s.Conversation.Join(bg, "talk", history.MainBranch, []string{"one", "two"},
		conversation.JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	model(history.MainBranch, "flash")
	if !detected(history.MainBranch) {
		t.Error("a prompt in a child began the parent's anew")
	}
	tip := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, s), "talk",
		history.MainBranch))
	if _, err := s.Conversation.Rewind(bg, "talk", history.MainBranch, tip.ID,
		conversation.RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	model(history.MainBranch, "")
	if detected(history.MainBranch) {
		t.Error("a rewind over a join left what was known of loops")
	}
}
