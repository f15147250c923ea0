package objects_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/objects"
)

// batches puts batches of 70 objects, each of which becomes a pack.
func batches(t testing.TB, s *objects.Store, n int) (raws []format.Raw) {
	t.Helper()
	raws = batch(70 * n)
	for some := range slices.Chunk(raws, 70) {
		put(t, s, some...)
	}
	return raws
}

// joined joins what can be, and returns how many packs there are afterwards.
func joined(t testing.TB, s *objects.Store, root string) int {
	t.Helper()
	held := hold(t, root)
	for more := true; more; {
		var err error
		if more, err = s.JoinPacks(held); err != nil {
			t.Fatal(err)
		}
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	list, err := s.Packs()
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func nodes(n int) []format.Raw {
	raws := make([]format.Raw, n)
	for i := range raws {
		raws[i] = bare(i)
	}
	return raws
}

// collision returns two objects whose ids begin with the same four bytes.
func collision(t testing.TB) (a, b format.Raw) {
	t.Helper()
	met := map[uint32]int{}
	for n := range 1 << 19 {
		r := object(n, "x")
		if before, ok := met[packs.Prefix(r.ID())]; ok {
			return object(before, "x"), r
		}
		met[packs.Prefix(r.ID())] = n
	}
	t.Fatal("no two objects")
	return a, b
}

func TestJoinPacks(t *testing.T) {
	t.Parallel()
	first, second := collision(t)
	with := func(of ...format.Raw) func(*testing.T, *objects.Store, string) []format.Raw {
		return func(t *testing.T, s *objects.Store, _ string) []format.Raw {
			raws := batches(t, s, 4)
			pack(t, s, of...)
			return append(raws, of...)
		}
	}
	for name, test := range map[string]struct {
		make func(t *testing.T, s *objects.Store, root string) []format.Raw
		want int // packs
	}{
		"none": {func(*testing.T, *objects.Store, string) []format.Raw { return nil }, 0},
		"three": {func(t *testing.T, s *objects.Store, _ string) []format.Raw {
			return batches(t, s, 3)
		}, 3},
		"four": {func(t *testing.T, s *objects.Store, _ string) []format.Raw {
			return batches(t, s, 4)
		}, 1},
		"nodes": {with(nodes(70)...), 2},
		"twice": {with(object(1000, "new"), batch(1)[0]), 2},
		"same first bytes": {func(t *testing.T, s *objects.Store, _ string) []format.Raw {
			raws := batches(t, s, 4)
			pack(t, s, first)
			pack(t, s, second)
			return append(raws, first, second)
		}, 1},
		"large": {func(t *testing.T, s *objects.Store, _ string) []format.Raw {
			raws := batches(t, s, 4)
			large := batch(20000)[10000:]
			for some := range slices.Chunk(large, 10000) {
				put(t, s, some...)
			}
			more := make([]format.Raw, 17000)
			for i := range more {
				more[i] = object(50000+i, "more")
			}
			put(t, s, more...)
			return append(append(raws, large...), more[:10]...)
		}, 2},
		"another key": {func(t *testing.T, s *objects.Store, _ string) []format.Raw {
			raws := batches(t, s, 4)
			s.Key = func() ([]byte, error) { return bytes.Repeat([]byte{7}, 32), nil }
			other := object(1000, "new")
			pack(t, s, other)
			return append(raws, other)
		}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, root := newStore(t, nil)
			raws := test.make(t, s, root)
			reader := open(t, root, nil) // it knows the packs before
			for i := 0; i < len(raws); i += 50 {
				same(t, reader, raws[i])
			}
			if n := joined(t, s, root); n != test.want {
				t.Errorf("%d packs, want %d", n, test.want)
			}
			for i := 0; i < len(raws); i += 13 {
				same(t, s, raws[i])
				same(t, reader, raws[i])
				same(t, open(t, root, nil), raws[i])
			}
			list, err := s.Packs()
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				if err := s.CheckPack(p.ID); err != nil {
					t.Error(err)
				}
			}
			if n := joined(t, s, root); n != test.want {
				t.Errorf("%d packs the second time, want %d", n, test.want)
			}
		})
	}
}

// A pack that is damaged stays as it is, and keeps the others from nothing.
func TestJoinDamaged(t *testing.T) {
	t.Parallel()
	s, root := newStore(t, nil)
	raws := batches(t, s, 4)
	bad := pack(t, s, object(1000, "bad"))
	b, err := os.ReadFile(bad.Path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(bad.Path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := joined(t, s, root); n != 2 {
		t.Errorf("%d packs", n)
	}
	if got, err := os.ReadFile(bad.Path); err != nil || !bytes.Equal(got, b) {
		t.Errorf("the damaged pack: %v", err)
	}
	for _, r := range raws {
		same(t, s, r)
	}
}

func TestJoinNeedsLock(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t, nil)
	if _, err := s.JoinPacks(nil); err == nil {
		t.Error("packs were joined without the lock")
	}
}

// The program stops, or a step fails, at every step of a join. Every object is there afterwards,
// and the next join works.
func TestCrashInJoin(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	for name, kind := range map[string]error{"stop": durable.ErrStopped,
		"tear": &durable.Torn{Keep: 100}, "fail": full} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				if !thirds.Mine(t, n) {
					continue
				}
				s, root := newStore(t, nil)
				raws := batches(t, s, 5)
				met := false
				fs := &durable.FS{Hook: func(c durable.Call) error {
					if c.N != n {
						return nil
					}
					met = true
					return kind
				}}
				held := hold(t, root)
				_, err := open(t, root, fs).JoinPacks(held)
				if met != (err != nil) {
					t.Fatalf("step %d: met %v, error %v", n, met, err)
				}
				if err := held.Release(); err != nil {
					t.Fatal(err)
				}
				next := open(t, root, nil)
				for _, r := range raws {
					same(t, s, r)
					same(t, next, r)
				}
				orphans, err := next.Orphans()
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range orphans {
					if err := next.Reindex(id); err != nil {
						t.Errorf("step %d: %v", n, err)
					}
				}
				joined(t, next, root)
				for _, r := range raws {
					same(t, next, r)
				}
				if !met {
					if n < 10 {
						t.Errorf("%d steps", n)
					}
					return
				}
			}
		})
	}
}
