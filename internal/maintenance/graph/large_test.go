package graph

import (
	"math"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// Whatever a header says, the graph gives it back: a huge seq, more links or parents than others
// have, and none at the end of a chunk.
func TestLargeObjects(t *testing.T) {
	edges := func(n int) (list []Edge) {
		for i := range n {
			list = append(list, edgeTo(uint32(i), format.NodeKind))
		}
		return list
	}
	all := []loaded{
		{kind: format.EntryKind, message: true, seq: math.MaxUint64, parents: 2, edges: edges(3)},
		{kind: format.EntryKind, seq: math.MaxUint32 + 1},
		{kind: format.EntryKind, seq: math.MaxUint32, message: true, parents: 255,
			edges: edges(255)},
		{kind: format.EntryKind, seq: 1, parents: 256, edges: edges(256)},
		{kind: format.ForestKind, edges: edges(chunkEdges)},
		{kind: format.ForestKind, edges: edges(chunkEdges - 1)},
		{kind: format.NodeKind, edges: edges(chunkEdges - 1)},
		{kind: format.NodeKind, edges: edges(1)},
		{kind: format.NodeKind},
		{kind: format.NodeKind, edges: edges(2)},
	}
	g := &Graph{objects: make([]object, len(all)), Marks: make([]Mark, len(all)),
		seqs: make([]uint32, len(all)), large: map[uint32]large{}, Lost: map[uint32][]format.Link{}}
	for i := range all {
		all[i].at = uint32(i)
		g.take(all[i])
	}
	for i, want := range all {
		at := uint32(i)
		if g.Kind(at) != want.kind || g.Message(at) != want.message || g.Seq(at) != want.seq {
			t.Errorf("object %d is %v, %v, seq %d", i, g.Kind(at), g.Message(at), g.Seq(at))
		}
		if !slices.Equal(g.Below(at), want.edges) || len(g.ParentsOf(at)) != want.parents {
			t.Errorf("object %d has %d links and %d parents", i, len(g.Below(at)),
				len(g.ParentsOf(at)))
		}
	}
}

// An inventory has each id once, in order, and knows where the objects of its packs are.
func TestInventoryNumbers(t *testing.T) {
	id := func(n byte) format.ID { return format.ID{n % 3, n} }
	var inv Inventory
	var packs [][]format.ID
	for _, list := range [][]byte{{9, 1, 4, 7}, {4, 2, 9}, {}, {5}} {
		var ids []format.ID
		for _, n := range list {
			ids = append(ids, id(n))
		}
		packs = append(packs, ids)
		inv.IDs = append(inv.IDs, ids...)
		inv.Packs = append(inv.Packs, &PackPlace{count: len(ids)})
	}
	inv.Logged = []format.ID{id(7), id(8), id(1), id(3)}
	inv.number()
	if len(inv.IDs) != 8 || !slices.IsSortedFunc(inv.IDs, format.ID.Compare) {
		t.Fatalf("ids: %v", inv.IDs)
	}
	for n, p := range inv.Packs {
		for k, i := range p.Numbers {
			if inv.IDs[i] != packs[n][k] {
				t.Errorf("object %d of pack %d is %v, want %v", k, n, inv.IDs[i], packs[n][k])
			}
		}
	}
}
