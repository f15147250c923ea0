package upkeep

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/repo"
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
	foreign := func(want string) {
		t.Helper()
		report := must[FsckReport](t)(Fsck(context.Background(), fresh(t, s), FsckOptions{}))
		if len(report.Faults) != 1 || report.Faults[0].Path != path || !strings.Contains(report.Faults[0].Why, want) {
			t.Errorf("got %v", report.Faults)
		}
	}
	foreign("not the one that anything in the store was written with")
	_, _, err := fresh(t, s).Append(context.Background(), "new", session.MainBranch, []session.Message{{Role: "user", Text: "again"}}, session.AppendOptions{})
	var refused *repo.KeyError
	if !errors.As(err, &refused) || refused.Path != path {
		t.Errorf("a writer with another key: %v", err)
	}

	// A repair may have put a new key in the place of a lost one. Without its word some objects are of a foreign key.
	mark := filepath.Join(s.Dir, filepath.FromSlash(session.NewKeyName))
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, must[[]byte](t)(fresh(t, s).NewKeyMark()), 0o600); err != nil {
		t.Fatal(err)
	}
	say(t, fresh(t, s), "talk", "hello again")
	report := clean(t, fresh(t, s))
	if !slices.Contains(report.Notes, "the key is a new one; 1 objects were written with the one that was lost") {
		t.Errorf("notes: %q", report.Notes)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	foreign("is not the one that 1 objects were written with")
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	foreign("is not the one that 1 objects were written with")
}

// With a new key, which is asked for, a store with a foreign key is written again, and a bundle of it is sound.
func TestRepairOfAnotherKey(t *testing.T) {
	s := create(t)
	say(t, s, "talk", "hello")
	path := filepath.Join(s.Dir, "key")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1}, repo.KeySize), 0o600); err != nil {
		t.Fatal(err)
	}
	key := bytes.Repeat([]byte{2}, repo.KeySize)
	report := must[RepairReport](t)(Repair(context.Background(), env(s.Dir, nil), RepairOptions{NewKey: key}))
	if len(report.Lost) != 1 || len(report.Left) != 0 {
		t.Errorf("lost %q, left %v", report.Lost, report.Left)
	}
	if got := must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(got, key) {
		t.Errorf("the key is %x", got)
	}
	say(t, fresh(t, s), "talk", "hello again")
	bundle := filepath.Join(tempDir(t), "bundle")
	must[BundleReport](t)(Bundle(context.Background(), fresh(t, s), bundle, nil))
	to := tempDir(t)
	must[BundleReport](t)(Unbundle(context.Background(), env(to, nil), bundle, to))
	clean(t, open(t, filepath.Join(to, ".gemini", "context"), nil))
}
