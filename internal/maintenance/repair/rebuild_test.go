package repair_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/objects"
)

// loseDerived takes every node, page and forest out of a store, but for those that the base leads
// to and pins that are as old, and returns how many.
func loseDerived(t testing.TB, s *session.Store) (lost int) {
	t.Helper()
	inv := storetest.Must[*graph.Inventory](t)(
		graph.TakeInventory(s.Opened, func(_ string, err error) error { return err }))
	g := storetest.Must[*graph.Graph](t)(graph.Read(context.Background(), s.Opened, inv,
		graph.Eye{}, nil))
	w := graph.Walk{Graph: g, Mark: graph.Reached}
	base := graph.RefsOf(storetest.Must[*format.Checkpoint](t)(s.Refs.Base()))
	roots := graph.RootsOfBase(base)
	for name, v := range storetest.View(t, s).All() {
		if pin := base[name].Pin; !pin.IsZero() && pin == v.Pin {
			roots = append(roots,
				graph.Root{Link: format.Link{ID: pin, Want: format.ForestKind}, From: name})
		}
	}
	for _, r := range roots {
		if err := w.From(storetest.Must[uint32](t)(g.Meet(r.ID))); err != nil {
			t.Fatal(err)
		}
	}
	var keep []format.ID
	for i := range uint32(g.Len()) {
		if k := g.Kind(i); g.Marks[i]&graph.Reached != 0 ||
			k != format.NodeKind && k != format.ForestKind && k != format.PageKind {
			keep = append(keep, g.ID(i))
		} else {
			lost++
		}
	}
	info := storetest.Must[objects.PackInfo](t)(
		s.Objects.WritePack(func(yield func(format.Raw, error) bool) {
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
	for _, p := range inv.Packs {
		if p.ID != info.ID {
			if err := s.Objects.RemovePack(held, p.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	return lost
}

// All that is derived is lost, and comes back with the same ids: from the beginning of the log,
// and from where a cut log begins.
func TestB1RebuildBringsBackWhatIsDerived(t *testing.T) {
	for _, seed := range []uint64{4, 5, 13, 18} {
		var s *session.Store
		if seed%2 == 0 {
			s = kit.Grow(t, seed)
		} else {
			s = kit.Old(t, seed)
		}
		before := kit.Texts(t, s)
		want := storetest.View(t, s).Get("forests/main").ID
		lost := loseDerived(t, s)
		if lost == 0 {
			t.Fatal("nothing was lost")
		}
		s = kit.Fresh(t, s)
		if report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), s.Opened,
			fsck.Options{})); len(report.Faults) == 0 {
			t.Fatal("fsck misses nothing")
		}
		dry := storetest.Must[repair.RebuildReport](t)(
			repair.Rebuild(context.Background(), s.Opened, repair.RebuildOptions{DryRun: true}))
		done := storetest.Must[repair.RebuildReport](t)(
			repair.Rebuild(context.Background(), s.Opened, repair.RebuildOptions{}))
		if dry != done || !done.Same || done.Forest != want || done.Objects == 0 {
			t.Errorf("dry run %+v, run %+v", dry, done)
		}
		kit.Clean(t, s)
		if got := kit.Texts(t, s); got != before {
			t.Error("history is not what it was")
		}
		if again := storetest.Must[repair.RebuildReport](t)(
			repair.Rebuild(context.Background(), s.Opened,
				repair.RebuildOptions{})); again.Objects != 0 {
			t.Errorf("again: %+v", again)
		}
		storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(),
			compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
				Branch: history.MainBranch}}}))
		kit.Clean(t, s)
	}
}

// A damaged node is replaced, a lost index made again; a forest that the log does not give is an
// error, and so is one that is too old.
func TestRebuildMends(t *testing.T) {
	s := kit.Old(t, 5)
	packs := storetest.Must[[]format.ID](t)(s.Objects.PackNames(objects.IndexExt))
	for i, id := range packs {
		var err error
		if i%2 == 0 {
			err = os.Remove(s.Objects.IndexPath(id))
		} else {
			err = os.WriteFile(s.Objects.IndexPath(id), []byte("not an index"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	view := storetest.View(t, s)
	forest := view.Get("forests/main").ID.String()
	damaged := s.Dir + "/objects/" + forest[:2] + "/" + forest[2:]
	if _, err := os.Stat(damaged); err == nil {
		if err := os.WriteFile(damaged, []byte("forest 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = kit.Fresh(t, s)
	done := storetest.Must[repair.RebuildReport](t)(
		repair.Rebuild(context.Background(), s.Opened, repair.RebuildOptions{}))
	if done.Indexes != len(packs) || !done.Same {
		t.Errorf("%+v, %d packs", done, len(packs))
	}
	kit.Clean(t, s)
	onlyLinks(t, s)
	f := &format.Forest{Name: "main"}
	raw := format.Raw{Header: storetest.Must[[]byte](t)(f.Encode())}
	if err := s.Objects.Put(raw); err != nil {
		t.Fatal(err)
	}
	kit.Update(t, s, "forests/main", raw.ID())
	_, err := repair.Rebuild(context.Background(), s.Opened, repair.RebuildOptions{})
	var differs *repair.DiffersError
	if !errors.As(err, &differs) || !strings.Contains(err.Error(), raw.ID().String()) {
		t.Errorf("got %v", err)
	}
}

// onlyLinks checks that the cache has the links alone. To make them takes a walk over all sessions.
func onlyLinks(t *testing.T, s *session.Store) {
	t.Helper()
	files := storetest.Must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(s.Dir, "cache")))
	if len(files) != 1 || files[0].Name() != cache.LinksName {
		t.Errorf("the cache has %v", files)
	}
}
