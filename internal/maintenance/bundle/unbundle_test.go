package bundle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A bundle of a store with a single fault makes no store.
func TestUnbundleRefusesOneFault(t *testing.T) {
	bg := context.Background()
	s := kit.Create(t)
	kit.Say(t, s, "talk", "one", "two")
	kit.TakeOut(t, s, kit.TipOf(t, s, "talk"))
	if faults := kit.FaultsOf(t, s); len(faults) != 1 {
		t.Fatal(faults)
	}
	bundle := filepath.Join(durabletest.TempDir(t), "bundle")
	storetest.Must[Report](t)(Write(bg, kit.Fresh(t, s).Opened, bundle, nil))
	to := durabletest.TempDir(t)
	var damaged *DamagedError
	if _, err := Unpack(bg, storetest.Env(to, nil), bundle, to); !errors.As(err, &damaged) ||
		len(damaged.Faults) != 1 {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(to, ".gemini", "context")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a store: %v", err)
	}
}
