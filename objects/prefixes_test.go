package objects_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

type prefix = [objects.PrefixSize]byte

// TestResolve finds packed, logged and missing objects by the first bytes of their ids.
func TestResolve(t *testing.T) {
	s, _ := newStore(t, nil)
	raws := batch(300)
	pack(t, s, raws[:150]...)
	pack(t, s, raws[100:250]...)
	s.SetLogged(raws[250:251])
	all := raws[:251]
	rand.New(rand.NewPCG(1, 1)).Shuffle(50, func(i, k int) { all[i], all[k] = all[k], all[i] })
	var prefixes []prefix
	var ids []format.ID
	for _, r := range append(all, raws[299]) {
		id := r.ID()
		ids = append(ids, id)
		prefixes = append(prefixes, prefix(id[:]))
	}
	for _, first := range []bool{true, false} {
		found, err := s.Resolve(prefixes, first)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			want := []format.ID{id}
			if i == len(ids)-1 {
				want = nil // nobody has stored it
			}
			if !slices.Equal(found[i], want) {
				t.Errorf("first %v: object %d: %v, want %v", first, i, found[i], want)
			}
		}
	}
	there, err := s.Packed(ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, yes := range there {
		logged := ids[i] == raws[250].ID()
		if want := i < len(ids)-1 && !logged; yes != want {
			t.Errorf("object %d is packed: %v, want %v", i, yes, want)
		}
	}
}

// TestResolveListsAgain finds an object that another process has packed since.
func TestResolveListsAgain(t *testing.T) {
	s, root := newStore(t, nil)
	raws := batch(20)
	pack(t, s, raws[:10]...)
	if _, err := s.Packed(nil); err != nil {
		t.Fatal(err)
	}
	pack(t, open(t, root, nil), raws[10:]...)
	id := raws[15].ID()
	if found, err := s.Resolve([]prefix{prefix(id[:])}, true); err != nil ||
		!slices.Equal(found[0], []format.ID{id}) {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestResolveNodes finds a node in a block that is not self-contained, which Packed does not count.
func TestResolveNodes(t *testing.T) {
	s, _ := newStore(t, nil)
	raws := batch(40)
	node := []byte("node 1\nlevel 0\ncount 41\n")
	for _, r := range raws {
		node = fmt.Appendf(node, "entry %v\n", r.ID())
	}
	// So it does not stand beside the entries
	node = fmt.Appendf(node, "entry %v\n", format.Sum(nil))
	raws = append(raws, format.Raw{Header: node})
	id := raws[40].ID()
	pack(t, s, raws...)
	if there, err := s.Packed([]format.ID{id}); err != nil || there[0] {
		t.Fatalf("the node is in a self-contained block: %v, %v", there, err)
	}
	for _, first := range []bool{true, false} {
		found, err := s.Resolve([]prefix{prefix(id[:])}, first)
		if err != nil || !slices.Equal(found[0], []format.ID{id}) {
			t.Errorf("first %v: found %v, %v", first, found, err)
		}
	}
}
