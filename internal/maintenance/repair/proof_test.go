package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// packed returns a store with its objects in packs, of which one was written by a forget if
// forgetting is true.
func packed(t *testing.T, forgetting bool) *session.Store {
	t.Helper()
	s := kit.Create(t)
	kit.Say(t, s, "talk", "the port is 4411", "noted", "the depth is 7 m", "noted too")
	if _, err := gc.Run(context.Background(), s.Opened, gc.Options{Grace: -1}); err != nil {
		t.Fatal(err)
	}
	if forgetting {
		kit.ForgetEntry(t, s, kit.TipOf(t, s, "talk"))
	}
	return s
}

// readable lists what can be read of a store.
func readable(t *testing.T, s *session.Store) (ids []format.ID) {
	t.Helper()
	r := &repairer{ctx: context.Background(), s: s.Opened}
	if err := r.eachTruth(func(id format.ID) error {
		ids = append(ids, id)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// Where the end of a pack is cut off, or something is added to it, all blocks may be whole. What
// can be read with the damage can be read after the repair.
func TestRepairKeepsWhatReads(t *testing.T) {
	for _, forgetting := range []bool{false, true} {
		for _, damage := range []int{-1, -2, -8, -33, -200, 1, 8, 4096} {
			s := packed(t, forgetting)
			packs, err := filepath.Glob(filepath.Join(s.Dir, "objects", "pack", "*.pack"))
			if err != nil || len(packs) == 0 {
				t.Fatal(packs, err)
			}
			for _, path := range packs {
				b := storetest.Must[[]byte](t)(os.ReadFile(path))
				if damage < 0 {
					b = b[:max(0, len(b)+damage)]
				} else {
					b = append(b, make([]byte, damage)...)
				}
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := readable(t, kit.Fresh(t, s))
			if _, err := Run(context.Background(), storetest.Env(s.Dir, nil),
				Options{Copy: filepath.Join(t.TempDir(), "copy")}); err != nil {
				t.Errorf("damage %d: %v", damage, err)
			}
			after := map[format.ID]bool{}
			for _, id := range readable(t, kit.Fresh(t, s)) {
				after[id] = true
			}
			for _, id := range before {
				if !after[id] {
					t.Errorf("damage %d, after a forget %v: %v can be read no more", damage,
						forgetting, id)
				}
			}
		}
	}
}

// A repair whose result has less than the store is refused.
func TestRepairThatLosesIsRefused(t *testing.T) {
	s := packed(t, false)
	dir := filepath.Join(t.TempDir(), ".gemini", "context")
	env := storetest.Env(s.Dir, nil)
	if err := store.CopyTree(context.Background(), env.FS, s.Dir, dir); err != nil {
		t.Fatal(err)
	}
	r := &repairer{ctx: context.Background(), s: s.Opened}
	same := &repairer{s: kit.Fresh(t, s).Opened}
	if err := r.compare(same); err != nil {
		t.Errorf("the same store: %v", err)
	}
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, path := range packs {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	less := &repairer{s: kit.Open(t, dir, nil).Opened}
	if err := r.compare(less); !errors.Is(err, ErrLoses) {
		t.Errorf("a store without its packs: %v", err)
	}
}
