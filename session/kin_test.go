package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// An append reads nothing of what was said long ago, however many branches there are and however long one of them has been waiting: it works although those
// objects are not there.
func TestAppendBesideOpenChildrenReadsNoHistory(t *testing.T) {
	s := create(t, small...)
	say(t, s, "s", "user", "begin")
	must[Forked](t)(s.Fork(context.Background(), "s", MainBranch, []string{"failed", "works"}, ForkOptions{}))
	sayIn(t, s, "failed", "I have half of")
	for i := range 60 {
		for _, b := range []string{MainBranch, "works"} {
			sayIn(t, s, b, fmt.Sprintf("%s says %d", b, i))
		}
	}
	gone := 0
	for _, b := range []string{MainBranch, "works"} {
		n := 0
		err := s.back(s.mustView(t).Get(RefName("s", b)).ID, func(id format.ID, e *format.Entry) bool {
			name := id.String()
			if n++; n > 20 && os.Remove(filepath.Join(s.Dir, "objects", name[:2], name[2:])) == nil {
				gone++
			}
			return e.Seq > 2
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if gone < 70 {
		t.Fatalf("%d objects are gone", gone)
	}
	for _, m := range []Message{{Role: "model", Text: "more"}, {Role: "user", Text: "a prompt that names no invocation"}} {
		for _, b := range []string{MainBranch, "works", "failed"} {
			if _, _, err := s.Append(context.Background(), "s", b, []Message{m}, AppendOptions{}); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
	if list := must[[]string](t)(s.openChildren(s.mustView(t), "s", MainBranch)); len(list) != 2 {
		t.Errorf("main has the children %q", list)
	}
}

// What a head remembers of children is right after an undo that brings one back.
func TestUndoBringsChildrenBack(t *testing.T) {
	s := create(t, small...)
	say(t, s, "s", "user", "begin")
	fork := func(parent string, children ...string) {
		must[Forked](t)(s.Fork(context.Background(), "s", parent, children, ForkOptions{}))
	}
	fork(MainBranch, "waits")
	fork(MainBranch, "a", "b")
	must[Joined](t)(s.Join(context.Background(), "s", MainBranch, []string{"a"}, JoinOptions{}))
	must[Joined](t)(s.Join(context.Background(), "s", MainBranch, []string{"b"}, JoinOptions{}))
	sayIn(t, s, MainBranch, "only one waits now")
	for _, want := range []int{1, 2, 3} {
		if list := must[[]string](t)(s.openChildren(s.mustView(t), "s", MainBranch)); want > 1 && len(list) != want-1 {
			t.Errorf("main has the children %q, want %d", list, want-1)
		}
		must[Undone](t)(s.Undo(context.Background(), "s"))
	}
	if list := must[[]string](t)(s.openChildren(s.mustView(t), "s", MainBranch)); len(list) != 3 {
		t.Errorf("main has the children %q, want 3", list)
	}
	sayIn(t, s, MainBranch, "three wait")
	must[Joined](t)(s.Join(context.Background(), "s", MainBranch, []string{"a", "b", "waits"}, JoinOptions{}))
}
