package session

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// TestModelOfBranches: a child goes on with its parent's model; what it is switched to, and asked, stays its own, also after the join.
func TestModelOfBranches(t *testing.T) {
	s := create(t)
	bg := context.Background()
	model := func(branch, want string) {
		t.Helper()
		if name, _, err := s.Model(s.mustView(t), "talk", branch); err != nil || name != want {
			t.Errorf("the model of %s is %q, %v; want %q", branch, name, err, want)
		}
	}
	say(t, s, "talk", "user", "compare the two")
	must[Appended](t)(s.SetModel(bg, "talk", MainBranch, "flash"))
	if _, err := s.Fork(bg, "talk", MainBranch, []string{"one", "two"}, ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	model("one", "flash")
	must[Appended](t)(s.SetModel(bg, "talk", "one", "pro"))
	if _, _, err := s.Append(bg, "talk", "two", []Message{{Role: "user", Text: "and you?"}}, AppendOptions{}); err != nil {
		t.Fatal(err)
	}
	model("one", "pro")
	model("two", "")
	model(MainBranch, "flash")

	// What is known of loops is of one branch.
	d, err := s.Loop(s.mustView(t), "talk", MainBranch)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := d.Call("", "run", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveLoop("talk", MainBranch, d); err != nil {
		t.Fatal(err)
	}
	detected := func(branch string) bool {
		t.Helper()
		d, err := s.Loop(s.mustView(t), "talk", branch)
		if err != nil {
			t.Fatal(err)
		}
		return d.Verdict().Detected
	}
	if !detected(MainBranch) || detected("one") {
		t.Error("a loop of one branch is known of another, or not of its own")
	}
	if _, err := s.Join(bg, "talk", MainBranch, []string{"one", "two"}, JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	model(MainBranch, "flash")
	if !detected(MainBranch) {
		t.Error("a prompt in a child began the parent's anew")
	}
	tip := must[format.Value](t)(Tip(s.mustView(t), "talk", MainBranch))
	if _, err := s.Rewind(bg, "talk", MainBranch, tip.ID, RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	model(MainBranch, "")
	if detected(MainBranch) {
		t.Error("a rewind over a join left what was known of loops")
	}
}
