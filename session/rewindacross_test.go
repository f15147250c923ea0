package session

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/epoch"
)

// standing is what a rewind and its undo must agree on: what the branch has, shows and was told.
func standing(t testing.TB, s *Store) []string {
	t.Helper()
	var list []string
	tip := tipOfS(t, s)
	for _, shown := range must[[]*Shown](t)(s.Log(tip.ID, LogOptions{})) {
		list = append(list, fmt.Sprint(shown.Entry.Seq, shown.ID, shown.Version))
	}
	for _, m := range shownTail(t, s) {
		if len(m.Masked) > 0 {
			list = append(list, fmt.Sprint("masked ", m.ID))
		}
	}
	told := must[EpochShown](t)(s.EpochAt(tip.ID))
	for _, k := range told.Current {
		list = append(list, fmt.Sprintf("told %s %s", k.Key, k.Value))
	}
	for _, b := range must[[]OpenBranch](t)(s.Branches(s.mustView(t), "s")) {
		list = append(list, fmt.Sprint("branch ", b.Name))
	}
	return list
}

// TestC6_06_rewindThenSend: what is left is the prefix, with the ids it had, and what is said then follows it.
func TestC6_06_rewindThenSend(t *testing.T) {
	s := create(t)
	first := say(t, s, "s", "user", "one")
	second := say(t, s, "s", "model", "two")
	third := say(t, s, "s", "user", "three")
	say(t, s, "s", "model", "four")
	if _, err := s.Rewind(context.Background(), "s", MainBranch, third, RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	fresh := say(t, s, "s", "user", "otherwise")
	var got []format.ID
	for _, shown := range must[[]*Shown](t)(s.Log(tipOfS(t, s).ID, LogOptions{})) {
		got = append(got, shown.ID)
	}
	if want := []format.ID{first, second, fresh}; !slices.Equal(got, want) {
		t.Errorf("the branch has %v, want %v", got, want)
	}
}

// TestC6_11_rewindAcrossEverything goes back over a mask, a fork and its join, an epoch update, a compaction and an eviction, to before each in turn: what stood
// there stands again (the epoch is restored, not cleared), undo and redo go over all of it, and no word is lost.
func TestC6_11_rewindAcrossEverything(t *testing.T) {
	s := create(t, append(slices.Clone(lowGate), "window.graduate_at=4", "window.evict_at=8")...)
	ctx := context.Background()
	tell := func(date string) {
		t.Helper()
		set := must[*epoch.Set](t)(epoch.Read([]byte(is("core/date", date))))
		must[Observed](t)(s.Observe(ctx, "s", MainBranch, set, ObserveOptions{}))
	}
	type mark struct {
		next format.ID // the message that was said first after it
		as   []string
	}
	var marks []mark
	note := func(text string) {
		as := standing(t, s)
		marks = append(marks, mark{say(t, s, "s", "user", text), as})
	}
	say(t, s, "s", "user", "begin")
	tell(`"monday"`)
	for i := range 12 {
		say(t, s, "s", "model", fmt.Sprintf("talk about parser line %d", i))
	}
	_, output := calls(t, s, 1, long(1))
	calls(t, s, 2, long(2))
	note("before the mask")
	applyAll(t, s)
	if !isMasked(t, s, output) {
		t.Fatal("nothing was masked")
	}
	note("before the fork")
	if _, err := s.Fork(ctx, "s", MainBranch, []string{"a", "b"}, ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, branch := range []string{"a", "b", "a"} {
		if _, _, err := s.Append(ctx, "s", branch, []Message{{Role: "model", Text: "done in " + branch}}, AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Join(ctx, "s", MainBranch, []string{"a", "b"}, JoinOptions{}); err != nil {
		t.Fatal(err)
	}
	note("before the update")
	tell(`"tuesday"`)
	note("before the compaction")
	must[Compaction](t)(s.Compact(ctx, CompactOptions{Branches: []BranchName{{"s", MainBranch}}}))
	clusters := must[[]ClusterInfo](t)(s.Clusters(s.mustView(t)))
	if len(clusters) == 0 {
		t.Fatal("no clusters")
	}
	must[Evicted](t)(s.Evict(ctx, clusters[0].ID))
	say(t, s, "s", "user", "and on")
	check(t, s)

	whole := standing(t, s)
	for i, m := range slices.Backward(marks) {
		if _, err := s.Rewind(ctx, "s", MainBranch, m.next, RewindOptions{}); err != nil {
			t.Fatalf("mark %d: %v", i, err)
		}
		check(t, s)
		rewound := standing(t, s)
		for _, shown := range shownTail(t, s) {
			if masked := len(shown.Masked) > 0; shown.ID == output && masked != (m.next != marks[0].next) {
				t.Errorf("mark %d: masked %v", i, masked)
			}
		}
		if !sameStanding(rewound, m.as) {
			t.Errorf("mark %d: after the rewind\n%q\nwas\n%q", i, rewound, m.as)
		}
		if _, err := s.Undo(ctx, "s"); err != nil {
			t.Fatalf("mark %d: undo: %v", i, err)
		}
		check(t, s)
		if got := standing(t, s); !sameStanding(got, whole) {
			t.Errorf("mark %d: after the undo\n%q\nwant\n%q", i, got, whole)
		}
		if _, err := s.Redo(ctx, "s"); err != nil {
			t.Fatalf("mark %d: redo: %v", i, err)
		}
		check(t, s)
		if got := standing(t, s); !sameStanding(got, rewound) {
			t.Errorf("mark %d: after the redo\n%q\nwant\n%q", i, got, rewound)
		}
		if _, err := s.Undo(ctx, "s"); err != nil {
			t.Fatalf("mark %d: undo of the redo: %v", i, err)
		}
	}
	if expandedText(t, s, output) != long(1) {
		t.Error("the original of what was masked is lost")
	}
}

// sameStanding compares all but which masks show: a mask of what has left the tail is nothing that is shown.
func sameStanding(a, b []string) bool {
	drop := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return len(s) > 6 && s[:6] == "masked" })
	}
	return slices.Equal(drop(a), drop(b))
}
