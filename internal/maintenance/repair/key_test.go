package repair_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/maintenance/bundle"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// With a new key, which is asked for, a store with a foreign key is written again, and a bundle of
// it is sound.
func TestRepairOfAnotherKey(t *testing.T) {
	s := kit.Create(t)
	kit.Say(t, s, "talk", "hello")
	path := filepath.Join(s.Dir, "key")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1}, repo.KeySize), 0o600); err != nil {
		t.Fatal(err)
	}
	key := bytes.Repeat([]byte{2}, repo.KeySize)
	report := storetest.Must[repair.Report](t)(
		repair.Run(context.Background(), storetest.Env(s.Dir, nil), repair.Options{NewKey: key}))
	if len(report.Lost) != 1 || len(report.Left) != 0 {
		t.Errorf("lost %q, left %v", report.Lost, report.Left)
	}
	if got := storetest.Must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(got, key) {
		t.Errorf("the key is %x", got)
	}
	kit.Say(t, kit.Fresh(t, s), "talk", "hello again")
	file := filepath.Join(durabletest.TempDir(t), "bundle")
	storetest.Must[bundle.Report](t)(bundle.Write(context.Background(), kit.Fresh(t, s).Opened,
		file, nil))
	to := durabletest.TempDir(t)
	storetest.Must[bundle.Report](t)(bundle.Unpack(context.Background(),
		storetest.Env(to, nil), file, to))
	kit.Clean(t, kit.Open(t, filepath.Join(to, ".gemini", "context"), nil))
}
