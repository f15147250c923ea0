package repair_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/objects"
)

// inOnePack returns a store whose objects are all in one pack, and the path of that.
func inOnePack(t *testing.T) (*session.Store, string) {
	t.Helper()
	s := kit.Create(t)
	for i := range 40 {
		kit.Say(t, s, "talk", fmt.Sprintf("the port of server %d is %d", i, i*7919), "noted")
	}
	if _, err := gc.Run(context.Background(), s.Opened, gc.Options{Grace: -1}); err != nil {
		t.Fatal(err)
	}
	packs := storetest.Must[[]objects.PackInfo](t)(s.Objects.Packs())
	if len(packs) != 1 {
		t.Fatalf("%d packs", len(packs))
	}
	return s, packs[0].Path
}

// Wherever a bit of a pack flips, a repair makes the pack what it was, and nothing is lost.
func TestRepairOfAPack(t *testing.T) {
	s, path := inOnePack(t)
	good := storetest.Must[[]byte](t)(os.ReadFile(path))
	for at := 3; at < len(good); at += len(good) / 12 {
		bad := bytes.Clone(good)
		bad[at] ^= 0x10
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		report := storetest.Must[repair.Report](t)(
			repair.Run(context.Background(), storetest.Env(s.Dir, nil),
				repair.Options{Copy: filepath.Join(t.TempDir(), "copy")}))
		if report.Found == 0 || len(report.Lost)+len(report.Left) > 0 {
			t.Errorf("byte %d of %d: %+v", at, len(good), report)
		}
		if got := storetest.Must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(got, good) {
			t.Errorf("byte %d of %d: the pack is not what it was", at, len(good))
		}
		kit.Clean(t, kit.Fresh(t, s))
	}
}

// The index of a pack does not know the ids of its objects. What something names and a cut pack has
// no more is lost all the same, and a repair says so.
func TestRepairOfACutPack(t *testing.T) {
	s, path := inOnePack(t)
	good := storetest.Must[[]byte](t)(os.ReadFile(path))
	if err := os.WriteFile(path, good[:len(good)/20], 0o600); err != nil {
		t.Fatal(err)
	}
	report := storetest.Must[repair.Report](t)(
		repair.Run(context.Background(), storetest.Env(s.Dir, nil),
			repair.Options{Copy: filepath.Join(t.TempDir(), "copy")}))
	if len(report.Left) > 0 || len(report.Lost) != 1 ||
		!strings.Contains(report.Lost[0], "messages of session talk") {
		t.Errorf("left %v, lost %q", report.Left, report.Lost)
	}
	s = kit.Fresh(t, s)
	kit.Clean(t, s)
	list := storetest.Texts(t, s)
	if len(list["sessions/talk/main"]) != 40 {
		t.Errorf("the session has no holes: %q", list)
	}
}
