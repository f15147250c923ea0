package objects_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/objects"
)

// known are names of a sorted list of ids.
type known []format.ID

func namesOf(raws []format.Raw) known {
	return slices.SortedFunc(slices.Values(ids(raws)), format.ID.Compare)
}

func (k known) Len() int { return len(k) }

func (k known) Find(id format.ID) (uint32, bool) {
	n, ok := slices.BinarySearchFunc(k, id, format.ID.Compare)
	return uint32(n), ok
}

func (k known) ID(n uint32) format.ID { return k[n] }

// A store with names writes the same pack, finds it sound, reads it, and refuses an object that
// comes twice: whether the names have all ids, some or none, and also once they are taken back.
func TestLend(t *testing.T) {
	// Entries in several blocks, and nodes of others
	entries, derived := talkOf(make([]byte, 32), 6000)
	all := append(slices.Clone(entries), derived...)
	plain, _ := newStore(t, nil)
	want := pack(t, plain, all...)
	for _, names := range thirds.Of(t,
		[]known{namesOf(all), namesOf(all[100:]), namesOf(derived), nil}) {
		s, _ := newStore(t, nil)
		takeBack := s.Lend(names)
		if info := pack(t, s, all...); info.ID != want.ID || info.Objects != want.Objects {
			t.Fatalf("with %d names: pack %v, want %v", len(names), info.ID, want.ID)
		}
		if err := s.CheckPack(want.ID); err != nil {
			t.Error(err)
		}
		if c, err := s.PackContents(want.ID); err != nil || len(c.IDs) != len(all) {
			t.Errorf("%d objects, %v", len(c.IDs), err)
		}
		if n, err := s.PackLen(want.ID); err != nil || n != len(all) {
			t.Errorf("%d objects, %v", n, err)
		}
		read := func() {
			for _, i := range []int{0, 99, 100, 5999, 6000, 6001, 7000, len(all) - 1} {
				same(t, s, all[i])
			}
		}
		read()
		_, err := s.WritePack(sequence(append(slices.Clone(all), all[0])), objects.Default)
		if err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("an object that comes twice: %v", err)
		}
		if err := takeBack(); err != nil {
			t.Error(err)
		}
		read()
	}
}
