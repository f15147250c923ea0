package upkeep

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/session"
)

type stateOf = *forest.State

// loseDerived takes every node, page and forest out of a store, but for those that the base leads to and pins that are as old, and returns how many.
func loseDerived(t testing.TB, s *session.Store) (lost int) {
	t.Helper()
	inv := must[*inventory](t)(takeInventory(s, func(_ string, err error) error { return err }))
	g := must[*graph](t)(readGraph(context.Background(), s, inv, nil, nil))
	w := walk{graph: g, mark: reached}
	base := refsOf(must[*format.Checkpoint](t)(s.Refs.Base()))
	roots := rootsOfBase(base)
	for name, v := range must[*viewOf](t)(read(s)).All() {
		if pin := base[name].Pin; !pin.IsZero() && pin == v.Pin {
			roots = append(roots, root{link{pin, forestKind}, name})
		}
	}
	for _, r := range roots {
		if err := w.from(must[uint32](t)(g.meet(r.id))); err != nil {
			t.Fatal(err)
		}
	}
	var keep []format.ID
	for i, o := range g.objects {
		if k := o.kind; g.marks[i]&reached != 0 || k != nodeKind && k != forestKind && k != pageKind {
			keep = append(keep, o.id)
		} else {
			lost++
		}
	}
	info := must[objects.PackInfo](t)(s.Objects.WritePack(func(yield func(format.Raw, error) bool) {
		for _, id := range keep {
			raw, err := s.Objects.Get(id)
			var gone *objects.GoneError
			if errors.As(err, &gone) {
				raw.Body, err = nil, nil
			}
			if !yield(raw, err) {
				return
			}
		}
	}, objects.Fast))
	held, err := s.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	for _, l := range inv.loose {
		if err := os.Remove(loosePath(s, l.id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range inv.packs {
		if p.id != info.ID {
			if err := s.Objects.RemovePack(held, p.id); err != nil {
				t.Fatal(err)
			}
		}
	}
	return lost
}

// All that is derived is lost, and comes back with the same ids: from the beginning of the log, and from where a cut log begins.
func TestB1RebuildBringsBackWhatIsDerived(t *testing.T) {
	for _, seed := range []uint64{4, 5, 13, 18} {
		var s *session.Store
		if seed%2 == 0 {
			s = grow(t, seed)
		} else {
			s = old(t, seed)
		}
		before := texts(t, s)
		want := must[*viewOf](t)(read(s)).Get("forests/main").ID
		lost := loseDerived(t, s)
		if lost == 0 {
			t.Fatal("nothing was lost")
		}
		s = fresh(t, s)
		if report := must[FsckReport](t)(Fsck(context.Background(), s, FsckOptions{})); len(report.Faults) == 0 {
			t.Fatal("fsck misses nothing")
		}
		dry := must[RebuildReport](t)(Rebuild(context.Background(), s, RebuildOptions{DryRun: true}))
		done := must[RebuildReport](t)(Rebuild(context.Background(), s, RebuildOptions{}))
		if dry != done || !done.Same || done.Forest != want || done.Objects == 0 {
			t.Errorf("dry run %+v, run %+v", dry, done)
		}
		clean(t, s)
		if got := texts(t, s); got != before {
			t.Error("history is not what it was")
		}
		if again := must[RebuildReport](t)(Rebuild(context.Background(), s, RebuildOptions{})); again.Objects != 0 {
			t.Errorf("again: %+v", again)
		}
		must[session.Compaction](t)(s.Compact(context.Background(), session.CompactOptions{Branches: []session.BranchName{{Session: "talk", Branch: session.MainBranch}}}))
		clean(t, s)
	}
}

// A damaged node is replaced, a lost index made again; a forest that the log does not give is an error, and so is one that is too old.
func TestRebuildMends(t *testing.T) {
	s := old(t, 5)
	packs := must[[]format.ID](t)(packNames(s, ".idx"))
	for i, id := range packs {
		var err error
		if i%2 == 0 {
			err = os.Remove(indexPath(s, id))
		} else {
			err = os.WriteFile(indexPath(s, id), []byte("not an index"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	view := must[*viewOf](t)(read(s))
	forest := view.Get("forests/main").ID.String()
	damaged := s.Dir + "/objects/" + forest[:2] + "/" + forest[2:]
	if _, err := os.Stat(damaged); err == nil {
		if err := os.WriteFile(damaged, []byte("forest 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = fresh(t, s)
	done := must[RebuildReport](t)(Rebuild(context.Background(), s, RebuildOptions{}))
	if done.Indexes != len(packs) || !done.Same {
		t.Errorf("%+v, %d packs", done, len(packs))
	}
	clean(t, s)
	if counts := must[Counts](t)(Count(s)); counts.CacheBytes != 0 {
		t.Error("the cache is still there")
	}
	f := &format.Forest{Name: "main"}
	raw := format.Raw{Header: must[[]byte](t)(f.Encode())}
	if err := s.Objects.Put(raw); err != nil {
		t.Fatal(err)
	}
	update(t, s, "forests/main", raw.ID())
	_, err := Rebuild(context.Background(), s, RebuildOptions{})
	var differs *DiffersError
	if !errors.As(err, &differs) || !strings.Contains(err.Error(), raw.ID().String()) {
		t.Errorf("got %v", err)
	}
}
