package graph_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func read(t *testing.T, s *session.Store) *graph.Graph {
	t.Helper()
	inv := storetest.Must[*graph.Inventory](t)(
		graph.TakeInventory(s.Opened, func(_ string, err error) error { return err }))
	return storetest.Must[*graph.Graph](t)(
		graph.Read(context.Background(), s.Opened, inv, graph.Eye{}, nil))
}

// A graph that has let go of its links says the same as one that has not.
func TestLetGo(t *testing.T) {
	s := kit.Old(t, 7)
	g, want := read(t, s), read(t, s)
	g.LetGo()
	for i := range uint32(want.Len()) {
		if g.Kind(i) != want.Kind(i) || g.Message(i) != want.Message(i) ||
			!slices.Equal(g.Below(i), want.Below(i)) ||
			!slices.Equal(g.ParentsOf(i), want.ParentsOf(i)) {
			t.Errorf("%v %v is %v with %d links, want %d", want.Kind(i), want.ID(i), g.Kind(i),
				len(g.Below(i)), len(want.Below(i)))
		}
	}
	raw := format.Raw{Header: []byte("unknown 1\n")}
	if _, err := g.Meet(raw.ID()); err == nil || g.Len() != want.Len() {
		t.Errorf("an object that is not there: %v, %d objects", err, g.Len())
	}
}

// A walk below what was let go reaches all that it did, and what came later.
func TestWalkAfterLetGo(t *testing.T) {
	s := kit.Old(t, 7)
	g := read(t, s)
	g.LetGo()
	reached, all := 0, read(t, s)
	for n, of := range []*graph.Graph{g, all} {
		w := graph.Walk{Graph: of, Mark: graph.Reached,
			Missing: func(_ uint32, _ format.Link, why error) error { return why }}
		for _, r := range graph.RootsOfRefs(storetest.View(t, s).All()) {
			if err := w.From(storetest.Must[uint32](t)(of.Meet(r.ID))); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range of.Marks {
			if m&graph.Reached != 0 {
				reached += 1 - 2*n
			}
		}
	}
	if reached != 0 {
		t.Errorf("%d more objects than before", reached)
	}
}

// The store has the same objects with what the graph lends it.
func TestLend(t *testing.T) {
	s := kit.Old(t, 7)
	g := read(t, s)
	takeBack := g.Lend()
	for i := range uint32(g.Len()) {
		if h, err := s.Objects.Header(g.ID(i)); err != nil || format.Sum(h) != g.ID(i) {
			t.Errorf("object %v: %v", g.ID(i), err)
		}
	}
	if err := takeBack(); err != nil {
		t.Error(err)
	}
}

// An inventory that has let go of its numbers still knows the objects without a body in their pack.
func TestInventoryLetGo(t *testing.T) {
	s := kit.Old(t, 7)
	inventory := func() *graph.Inventory {
		return storetest.Must[*graph.Inventory](t)(
			graph.TakeInventory(s.Opened, func(_ string, err error) error { return err }))
	}
	inv, want := inventory(), inventory()
	inv.LetGo()
	for n, p := range want.Packs {
		if !slices.Equal(slices.Collect(inv.Packs[n].Bodyless()), slices.Collect(p.Bodyless())) ||
			inv.Packs[n].Numbers != nil {
			t.Errorf("pack %v: not the same objects without a body", p.ID)
		}
	}
}
