package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session/view"
)

// editVerbs are the mutations that change what is shown of messages. Each starts from the store of editTemplate.
var editVerbs = []struct {
	name string
	do   func(*Store) error
}{
	{"mask", func(s *Store) error { _, err := s.ApplyMasks(context.Background(), "s", MainBranch, nil); return err }},
	{"offload", func(s *Store) error {
		_, _, err := s.Offload(context.Background(), "s", MainBranch, Output{Tool: "cat", Call: "x", Text: strings.Repeat("long output ", 5000)})
		return err
	}},
	{"replace", func(s *Store) error {
		return beginAndCommit(s, func(v view.Input) ([]format.Target, []format.ID) {
			return whole(v.Tail[len(v.Tail)-1].ID), nil
		})
	}},
	{"replace a cluster", func(s *Store) error {
		return beginAndCommit(s, func(v view.Input) ([]format.Target, []format.ID) { return nil, []format.ID{v.Clusters[0].ID} })
	}},
	{"undo of a replacement", func(s *Store) error { _, err := s.Undo(context.Background(), "s"); return err }},
}

func beginAndCommit(s *Store, pick func(view.Input) ([]format.Target, []format.ID)) error {
	v, err := s.Refs.Read()
	if err != nil {
		return err
	}
	in, err := s.RenderInput(v, "s", MainBranch, view.Options{})
	if err != nil {
		return err
	}
	targets, clusters := pick(in)
	claims, err := s.BeginReplace(v, "s", MainBranch, targets, clusters)
	if err != nil {
		return err
	}
	_, err = s.CommitReplace(context.Background(), answerOf(claims[0].ID, "in short"), ReplaceOptions{})
	return err
}

var editSettings = append([]string{"mask.protected_tokens=10", "mask.gate_tokens=10"}, small...)

// editTemplate is a store with a session that has a cluster, outputs that can be masked, and a replacement that can be undone.
func editTemplate(t *testing.T) string {
	s := create(t, editSettings...)
	for n := range 6 {
		say(t, s, "s", "user", fmt.Sprintf("the migration of table %d fails on port %d", n, n))
	}
	must[Compaction](t)(s.Compact(context.Background(), CompactOptions{Branches: []BranchName{{"s", MainBranch}}}))
	calls(t, s, 1, long(1))
	id := say(t, s, "s", "user", "and then")
	say(t, s, "s", "model", "done")
	mustCommit(t, s, begin(t, s, whole(id)...), "then")
	check(t, s)
	return s.Dir
}

// shownAll is everything that a reader of the session gets: its log, what is rendered, and the summaries of its clusters.
func shownAll(t testing.TB, s *Store) string {
	t.Helper()
	var b strings.Builder
	v := s.mustView(t)
	for _, shown := range must[[]*Shown](t)(s.Log(v.Get(RefName("s", MainBranch)).ID, LogOptions{All: true})) {
		fmt.Fprintln(&b, shown.Entry.Kind, shown.Text)
	}
	fmt.Fprintf(&b, "%q\n", textsShown(t, s))
	for _, c := range must[[]ClusterInfo](t)(s.Clusters(v)) {
		fmt.Fprintln(&b, c.Covers)
	}
	return b.String()
}

// TestStopEdits stops each at every durable call, before it and with half of what it writes, and lets every call fail once: what is shown afterwards is what
// was, or what was to be, and what was acknowledged is there.
func TestStopEdits(t *testing.T) {
	from := editTemplate(t)
	before := shownAll(t, reopen(t, from, nil, editSettings...))
	full := errors.New("no space left on device")
	for _, verb := range editVerbs {
		t.Run(verb.name, func(t *testing.T) {
			to := copyStore(t, from)
			steps := 0
			counting := &lock.FS{Hook: func(lock.Call) error { steps++; return nil }}
			if err := verb.do(reopen(t, to, counting, editSettings...)); err != nil {
				t.Fatal(err)
			}
			after := shownAll(t, reopen(t, to, nil, editSettings...))
			if after == before {
				t.Fatal("it changes nothing")
			}
			for n := 1; n <= steps; n += stride() {
				for _, how := range []string{"stop", "torn", "full"} {
					dir := copyStore(t, from)
					fs := &lock.FS{Hook: func(c lock.Call) error {
						switch {
						case c.N < n, how == "full" && c.N > n:
							return nil
						case how == "full":
							return full
						case how == "torn" && c.N == n:
							return &lock.Torn{Keep: len(c.Data) / 2}
						}
						return lock.ErrStopped
					}}
					err := verb.do(reopen(t, dir, fs, editSettings...))
					s := reopen(t, dir, nil, editSettings...)
					check(t, s)
					got := shownAll(t, s)
					if got != before && got != after {
						t.Fatalf("%s at %d of %d: neither what was nor what was to be: %s", how, n, steps, got)
					}
					if err == nil && got != after {
						t.Fatalf("%s at %d of %d: acknowledged and lost", how, n, steps)
					}
					say(t, s, "s", "user", "after that")
					check(t, s)
					if err := os.RemoveAll(filepath.Dir(filepath.Dir(dir))); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Logf("%d calls, each stopped or failed three times", steps)
		})
	}
}
