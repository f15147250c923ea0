package objects_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// A process that looks up very many objects finds what is there and nothing else, while packs come,
// go, are merged and are stripped of a body.
func TestManyLookupsInManyPacks(t *testing.T) {
	s, root := newStore(t, nil)
	held := hold(t, root)
	r := rand.New(rand.NewPCG(3, 9))
	packs := map[format.ID][]format.Raw{} // what is in each
	gone := map[format.ID]bool{}          // without a body
	next := 0
	add := func() {
		var raws []format.Raw
		for range 1 + r.IntN(30) {
			next++
			raws = append(raws, object(next, "some text"))
		}
		packs[pack(t, s, raws...).ID] = raws
	}
	some := func() format.ID {
		for id := range packs {
			return id
		}
		return format.ID{}
	}
	check := func() {
		for range 40 {
			raws := packs[some()]
			raw := raws[r.IntN(len(raws))]
			got, err := s.Get(raw.ID())
			var lacks *objects.GoneError
			if errors.As(err, &lacks) && gone[raw.ID()] {
				err = nil
			}
			if err != nil || string(got.Header) != string(raw.Header) {
				t.Fatalf("object %v: %v", raw.ID(), err)
			}
			missing := object(1_000_000+r.IntN(1_000_000), "never written").ID()
			if _, err := s.Header(missing); !errors.Is(err, objects.ErrNotFound) {
				t.Fatalf("an object that is not there: %v", err)
			}
			if ok, err := s.Has(missing); ok || err != nil {
				t.Fatalf("an object that is not there: %v, %v", ok, err)
			}
			if ok, err := s.Has(raw.ID()); !ok || err != nil {
				t.Fatalf("object %v is not there: %v", raw.ID(), err)
			}
		}
	}
	for range 24 {
		add()
	}
	for round := range 120 {
		switch k := r.IntN(10); {
		case k < 4:
			add()
		case k < 7: // as gc does it
			var merged []format.Raw
			var old []format.ID
			for range 3 {
				id := some()
				merged, old = append(merged, packs[id]...), append(old, id)
				delete(packs, id)
			}
			packs[pack(t, s, merged...).ID] = merged
			for _, id := range old {
				if err := s.RemovePack(held, id); err != nil {
					t.Fatal(err)
				}
			}
		case k < 8: // as another process does it
			other := open(t, root, nil)
			id := some()
			raws := packs[id]
			delete(packs, id)
			both := append(raws[:len(raws):len(raws)], object(next+1, "by another process"))
			next++
			packs[pack(t, other, both...).ID] = both
			if err := other.RemovePack(held, id); err != nil {
				t.Fatal(err)
			}
		default:
			at := some()
			raws := packs[at]
			i := r.IntN(len(raws))
			id := raws[i].ID()
			raws[i].Body = nil
			forget(t, root, id)
			gone[id] = true
			strip := func(is format.ID) bool { return is == id }
			if _, err := s.StripPacks(context.Background(), held, strip,
				func(string) {}); err != nil {
				t.Fatal(err)
			}
			delete(packs, at) // it has another name now
			for _, info := range storePacks(t, s) {
				if packs[info.ID] == nil {
					packs[info.ID] = raws
				}
			}
		}
		check()
		if len(packs) < 4 {
			t.Fatalf("only %d packs after %d rounds", len(packs), round)
		}
	}
}

func storePacks(t *testing.T, s *objects.Store) []objects.PackInfo {
	t.Helper()
	list, err := s.Packs()
	if err != nil {
		t.Fatal(err)
	}
	return list
}
