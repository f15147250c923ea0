package fsck_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/lock"
)

// Another id in the format file is told from another id in the log: it is the one that stands
// alone.
func TestFsckOfTheFormatFile(t *testing.T) {
	s := kit.Create(t)
	kit.Say(t, s, "talk", "hello")
	path := filepath.Join(s.Dir, "format")
	good := string(storetest.Must[[]byte](t)(os.ReadFile(path)))
	other := strings.Repeat("0", 31) + "1"
	if err := os.WriteFile(path, []byte(strings.Replace(good, s.ID, other, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), kit.Fresh(t, s).Opened,
		fsck.Options{}))
	if len(report.Faults) == 0 || report.Faults[0].Path != path ||
		!strings.Contains(report.Faults[0].Why, s.ID) {
		t.Errorf("got %v", report.Faults)
	}
}

// A base that is newer than the checkpoint cannot be: the two have changed places.
func TestFsckOfSwappedCheckpoints(t *testing.T) {
	s := kit.Old(t, 5)
	for _, strategy := range []string{"", clusters.Flat} {
		storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(),
			compaction.CompactOptions{
				Branches: []history.BranchName{{Session: "talk", Branch: history.MainBranch}},
				Strategy: strategy,
			}))
	}
	storetest.Spread(t, s)
	held := storetest.Must[*lock.Held](t)(s.Lock(context.Background()))
	if err := s.Refs.Checkpoint(held,
		storetest.Must[*kit.View](t)(s.Refs.Begin(held))); err != nil {
		t.Fatal(err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	kit.Clean(t, kit.Fresh(t, s))
	base, newest := filepath.Join(s.Dir, "refs", "base"), filepath.Join(s.Dir, "refs", "checkpoint")
	for _, step := range [][2]string{{base, base + ".x"}, {newest, base}, {base + ".x", newest}} {
		if err := os.Rename(step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), kit.Fresh(t, s).Opened,
		fsck.Options{}))
	if len(report.Faults) == 0 || report.Faults[0].Path != base {
		t.Errorf("got %v", report.Faults)
	}
}

// A key that is not the one which the store was written with is found by the nonces.
func TestFsckOfAnotherKey(t *testing.T) {
	s := kit.Create(t)
	if report := kit.Clean(t, s); report.Objects != 0 {
		t.Fatal("not empty")
	}
	path := filepath.Join(s.Dir, "key")
	good := storetest.Must[[]byte](t)(os.ReadFile(path))
	other := append([]byte{good[0] ^ 1}, good[1:]...)
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	kit.Clean(t, kit.Fresh(t, s)) // nothing was written with either
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	kit.Say(t, s, "talk", "hello")
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := func(want string) {
		t.Helper()
		report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), kit.Fresh(t,
			s).Opened,
			fsck.Options{}))
		if len(report.Faults) != 1 || report.Faults[0].Path != path ||
			!strings.Contains(report.Faults[0].Why, want) {
			t.Errorf("got %v", report.Faults)
		}
	}
	foreign("not the one that anything in the store was written with")
	_, _, err := kit.Fresh(t, s).Conversation.Append(context.Background(), "new",
		history.MainBranch, []conversation.Message{{Role: "user", Text: "again"}},
		conversation.AppendOptions{})
	var refused *repo.KeyError
	if !errors.As(err, &refused) || refused.Path != path {
		t.Errorf("a writer with another key: %v", err)
	}

	// A repair may have put a new key in the place of a lost one. Without its word some objects are
	// of a foreign key.
	mark := filepath.Join(s.Dir, filepath.FromSlash(store.NewKeyName))
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mark, storetest.Must[[]byte](t)(kit.Fresh(t, s).Store.NewKeyMark()),
		0o600); err != nil {
		t.Fatal(err)
	}
	kit.Say(t, kit.Fresh(t, s), "talk", "hello again")
	report := kit.Clean(t, kit.Fresh(t, s))
	if !slices.Contains(report.Notes,
		"the key is a new one; 1 objects were written with the one that was lost") {
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
