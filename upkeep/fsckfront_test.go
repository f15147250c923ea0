package upkeep

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session"
)

// Another id in the format file is told from another id in the log: it is the one that stands alone.
func TestFsckOfTheFormatFile(t *testing.T) {
	s := create(t)
	say(t, s, "talk", "hello")
	path := filepath.Join(s.Dir, "format")
	good := string(must[[]byte](t)(os.ReadFile(path)))
	other := strings.Repeat("0", 31) + "1"
	if err := os.WriteFile(path, []byte(strings.Replace(good, s.ID, other, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	report := must[FsckReport](t)(Fsck(context.Background(), fresh(t, s), FsckOptions{}))
	if len(report.Faults) == 0 || report.Faults[0].Path != path || !strings.Contains(report.Faults[0].Why, s.ID) {
		t.Errorf("got %v", report.Faults)
	}
}

// A base that is newer than the checkpoint cannot be: the two have changed places.
func TestFsckOfSwappedCheckpoints(t *testing.T) {
	s := old(t, 5)
	for _, strategy := range []string{"", session.Flat} {
		must[session.Compaction](t)(s.Compact(context.Background(), session.CompactOptions{Branches: []session.BranchName{{Session: "talk", Branch: session.MainBranch}}, Strategy: strategy}))
	}
	held := must[*lock.Held](t)(s.Lock(context.Background()))
	if err := s.Refs.Checkpoint(held, must[*viewOf](t)(s.Refs.Begin(held))); err != nil {
		t.Fatal(err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	clean(t, fresh(t, s))
	base, newest := filepath.Join(s.Dir, "refs", "base"), filepath.Join(s.Dir, "refs", "checkpoint")
	for _, step := range [][2]string{{base, base + ".x"}, {newest, base}, {base + ".x", newest}} {
		if err := os.Rename(step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	report := must[FsckReport](t)(Fsck(context.Background(), fresh(t, s), FsckOptions{}))
	if len(report.Faults) == 0 || report.Faults[0].Path != base {
		t.Errorf("got %v", report.Faults)
	}
}

// A key that is not the one which the store was written with is found by the nonces.
func TestFsckOfAnotherKey(t *testing.T) {
	s := create(t)
	if report := clean(t, s); report.Objects != 0 {
		t.Fatal("not empty")
	}
	path := filepath.Join(s.Dir, "key")
	good := must[[]byte](t)(os.ReadFile(path))
	other := append([]byte{good[0] ^ 1}, good[1:]...)
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	clean(t, fresh(t, s)) // nothing was written with either
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	say(t, s, "talk", "hello")
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	report := must[FsckReport](t)(Fsck(context.Background(), fresh(t, s), FsckOptions{}))
	if len(report.Faults) != 1 || report.Faults[0].Path != path {
		t.Errorf("got %v", report.Faults)
	}
	say(t, fresh(t, s), "talk", "hello again")
	clean(t, fresh(t, s)) // one that replaced a lost one, from here on
}
