package gc_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// What is reachable stays, byte for byte; what is not goes after the grace period and no sooner; a
// dry run says the same.
func TestGCKeepsAndPrunes(t *testing.T) {
	for seed := range uint64(3) {
		s := kit.Create(t)
		r := rand.New(rand.NewPCG(seed, 1))
		kit.Live(t, s, r, 60)
		storetest.Spread(t, s)
		kit.Clean(t, s)
		oldTop, oldBelow := kit.Stray(t, s, "old")
		kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
		newTop, newBelow := kit.Stray(t, s, "new")
		if err := os.Chtimes(s.Objects.PackPath(storetest.Alone(t, s)[newBelow]),
			storetest.Start.Add(-30*kit.Day), storetest.Start.Add(-30*kit.Day)); err != nil {
			t.Fatal(err)
		}
		before := kit.Texts(t, s)
		// A checkpoint that closes the log may write a forest, and merges small packs, upon which all
		// that is in them is young again.
		logFrom := int64(-1)
		dry := storetest.Must[gc.Report](t)(
			gc.Run(context.Background(), s.Opened, gc.Options{DryRun: true, LogFrom: logFrom}))
		if !kit.Has(t, s, oldTop) {
			t.Fatal("a dry run removed something")
		}
		done := storetest.Must[gc.Report](t)(
			gc.Run(context.Background(), s.Opened, gc.Options{Best: seed%2 == 1, LogFrom: logFrom}))
		if seed%2 == 0 {
			dry.After = done.After
			if done != dry {
				t.Errorf("dry run %+v, run %+v", dry, done)
			}
		}
		if kit.Has(t, s, oldTop) || kit.Has(t, s, oldBelow) {
			t.Error("what nothing names is still there")
		}
		if !kit.Has(t, s, newTop) || !kit.Has(t, s, newBelow) {
			t.Error("what is young lost what it stands on")
		}
		if got := kit.Texts(t, s); got != before {
			t.Errorf("history is not what it was")
		}
		kit.Clean(t, s)
		counts := storetest.Must[store.Counts](t)(store.Count(s.Opened))
		if counts.Packs == 0 {
			t.Errorf("after gc: %+v", counts)
		}
		again := storetest.Must[gc.Report](t)(
			gc.Run(context.Background(), s.Opened, gc.Options{LogFrom: logFrom}))
		if again.Packed != 0 || again.Pruned != 0 ||
			again.Kept != done.Kept {
			t.Errorf("again: %+v after %+v", again, done)
		}
		kit.Live(t, s, r, 20)
		kit.Clean(t, s)
	}
}

func TestMain(m *testing.M) { kit.Main(m) }

// Old log goes, with what only it named; the forest where it begins is made to last; what is left
// replays.
func TestGCDropsTheLog(t *testing.T) {
	for _, seed := range []uint64{5, 13} {
		s := kit.Grow(t, seed)
		kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
		s.Now = storetest.Clock(storetest.Start.Add(10 * kit.Day))
		s.Objects.Now = s.Now
		kit.Live(t, s, rand.New(rand.NewPCG(seed, 3)), 20)
		before := kit.Texts(t, s)
		dry := storetest.Must[gc.Report](t)(
			gc.Run(context.Background(), s.Opened, gc.Options{DryRun: true}))
		done := storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{}))
		if base := storetest.Must[*format.Checkpoint](t)(s.Refs.Base()); base.Number == 0 {
			t.Fatal("the log was not cut")
		}
		if done.Pruned < 90 {
			t.Errorf("the removed session is still there: %+v", done)
		}
		if dry.Pruned != done.Pruned || dry.Segments != done.Segments {
			t.Errorf("dry run %+v, run %+v", dry, done)
		}
		if got := kit.Texts(t, s); got != before {
			t.Error("history is not what it was")
		}
		kit.Clean(t, s)
		rebuilt := storetest.Must[repair.RebuildReport](t)(
			repair.Rebuild(context.Background(), s.Opened, repair.RebuildOptions{}))
		if !rebuilt.Same || rebuilt.Objects != 0 {
			t.Errorf("rebuild: %+v", rebuilt)
		}
		kit.Live(t, s, rand.New(rand.NewPCG(seed, 4)), 20)
		kit.Clean(t, s)
	}
}

// gc is stopped at each of its durable calls, before it and with half of what it writes. The store
// is whole each time, and the next gc finishes.
func TestGCStopAtEveryCall(t *testing.T) {
	s := kit.Grow(t, 5)
	kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
	later := func(s *session.Store) *session.Store {
		s.Now = storetest.Clock(storetest.Start.Add(10 * kit.Day))
		s.Objects.Now = s.Now
		return s
	}
	want := kit.Texts(t, s)
	whole := storetest.CopyStore(t, s.Dir)
	ageDir(t, whole)
	points := durabletest.Stops(func(fsys *durable.FS) {
		storetest.Must[gc.Report](t)(gc.Run(context.Background(), later(kit.Open(t, whole,
			fsys)).Opened,
			gc.Options{}))
	})
	scratch := durabletest.TempDir(t)
	tried := 0
	for n, at := range points {
		if !thirds.Mine(t, n) {
			continue
		}
		tried++
		dir := filepath.Join(scratch, ".gemini", "context")
		storetest.CopyInto(t, s.Dir, dir)
		ageDir(t, dir)
		if _, err := gc.Run(context.Background(), later(kit.Open(t, dir, at.FS())).Opened,
			gc.Options{}); err != nil && !errors.Is(err, durable.ErrStopped) {
			t.Fatalf("stop at %v: %v", at, err)
		}
		after := later(kit.Open(t, dir, nil))
		kit.Clean(t, after)
		if got := kit.Texts(t, after); got != want {
			t.Fatalf("stop at %v: history is not what it was", at)
		}
		if n%4 == 0 {
			storetest.Must[gc.Report](t)(gc.Run(context.Background(), after.Opened, gc.Options{}))
			kit.Clean(t, after)
		}
		_ = after.Close()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d stops", tried, len(points))
}

func ageDir(t testing.TB, dir string) {
	t.Helper()
	for _, path := range kit.Files(t, filepath.Join(dir, "objects")) {
		if err := os.Chtimes(path, storetest.Start.Add(-30*kit.Day),
			storetest.Start.Add(-30*kit.Day)); err != nil {
			t.Fatal(err)
		}
	}
}

// While gc packs, somebody names what it is about to remove, and somebody else puts another piece
// of it again. Both stay, with what they stand on.
func TestGCFoldsInWhatIsNamedMeanwhile(t *testing.T) {
	s := kit.Grow(t, 13)
	named, namedBelow := kit.Stray(t, s, "named")
	put, putBelow := kit.Stray(t, s, "put")
	gone, _ := kit.Stray(t, s, "gone")
	kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
	once := sync.OnceFunc(func() {
		other := kit.Open(t, s.Dir, nil)
		kit.Update(t, other, "user/keep", named)
		if top, _ := kit.Stray(t, other, "put"); top != put {
			t.Errorf("put %v, want %v", top, put)
		}
		if err := os.Chtimes(s.Objects.PackPath(storetest.Alone(t, other)[putBelow]),
			storetest.Start.Add(-30*kit.Day), storetest.Start.Add(-30*kit.Day)); err != nil {
			t.Error(err)
		}
		kit.Say(t, other, "talk", "and a message")
	})
	storetest.Must[gc.Report](t)(
		gc.Run(context.Background(), s.Opened, gc.Options{Progress: func(_, _ int, what string) {
			if what == "packing" {
				once()
			}
		}}))
	for _, id := range []format.ID{named, namedBelow, put, putBelow} {
		if !kit.Has(t, s, id) {
			t.Errorf("%v was removed", id)
		}
	}
	if kit.Has(t, s, gone) {
		t.Error("garbage stayed")
	}
	kit.Clean(t, s)
}

// Readers and a writer go on while gc runs over and over.
func TestGCBesideReadersAndWriters(t *testing.T) {
	s := kit.Grow(t, 13)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	errs := make(chan error, 8)
	for range 2 {
		reader := kit.Open(t, s.Dir, nil)
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := readAll(reader); err != nil {
					errs <- fmt.Errorf("reader: %w", err)
					return
				}
			}
		})
	}
	writer := kit.Open(t, s.Dir, nil)
	wg.Go(func() {
		for i := range 40 {
			batch := []conversation.Message{{Role: "user", Text: fmt.Sprint("line ", i)}}
			if _, _, err := writer.Conversation.Append(context.Background(), "talk",
				history.MainBranch, batch, conversation.AppendOptions{}); err != nil {
				errs <- fmt.Errorf("writer: %w", err)
				return
			}
		}
	})
	for range 5 {
		if _, err := gc.Run(context.Background(), s.Opened, gc.Options{Best: true}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	kit.Clean(t, s)
	if !strings.Contains(kit.Texts(t, s), "line 39") {
		t.Error("a message is missing")
	}
}

func readAll(s *session.Store) error {
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	for _, name := range view.Names("sessions/") {
		if _, err := s.Recall.Log(view.Get(name).ID, recall.LogOptions{All: true}); err != nil {
			return err
		}
	}
	return nil
}

// gc removes nothing from a store in which something reachable is missing.
func TestGCRefusesDamage(t *testing.T) {
	s := kit.Grow(t, 13)
	kit.Say(t, s, "talk", "the last word")
	storetest.Spread(t, s)
	top, _ := kit.Stray(t, s, "garbage")
	kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
	view := storetest.View(t, s)
	lost := view.Get("sessions/talk/main").ID
	storetest.Lose(t, s, lost)
	tip := lost.String()
	if _, err := gc.Run(context.Background(), s.Opened, gc.Options{}); err == nil ||
		!strings.Contains(err.Error(), tip) {
		t.Errorf("got %v", err)
	}
	if !kit.Has(t, s, top) {
		t.Error("something was removed all the same")
	}
}

// --auto works above its limit only; small packs are merged when they have become many.
func TestGCAutoAndMerging(t *testing.T) {
	s := kit.Create(t)
	s.Config.GC.Auto = 1000
	r := rand.New(rand.NewPCG(3, 3))
	kit.Live(t, s, r, 10)
	if done := storetest.Must[gc.Report](t)(
		gc.Run(context.Background(), s.Opened, gc.Options{Auto: true})); !done.Idle {
		t.Errorf("worked: %+v", done)
	}
	most := 0
	for i := range 12 {
		var batch []string
		for range 40 {
			batch = append(batch, kit.Chatter(r))
		}
		kit.Say(t, s, "talk", batch...)
		storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{}))
		packs := storetest.Must[store.Counts](t)(store.Count(s.Opened)).Packs
		if most = max(most, packs); packs > 6 {
			t.Errorf("round %d: %d packs", i, packs)
		}
	}
	s.Config.GC.Auto = 1
	kit.Say(t, s, "talk", kit.Chatter(r), kit.Chatter(r), kit.Chatter(r), kit.Chatter(r),
		kit.Chatter(r), kit.Chatter(r), kit.Chatter(r), kit.Chatter(r))
	storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{Best: true}))
	if c := storetest.Must[store.Counts](t)(store.Count(s.Opened)); c.Packs != 1 {
		t.Errorf("after the best: %+v", c)
	}
	if again := storetest.Must[gc.Report](t)(
		gc.Run(context.Background(), s.Opened,
			gc.Options{Best: true})); again.After != again.Before {
		t.Errorf("the best again: %+v", again)
	}
	kit.Clean(t, s)
}

// The best level writes a pack again that has what is only too young to be removed, and keeps that.
func TestGCBestWritesYoungPacks(t *testing.T) {
	s := kit.Create(t)
	kit.Live(t, s, rand.New(rand.NewPCG(4, 4)), 40)
	storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{}))
	top, below := kit.Stray(t, s, "young")
	raws := func(yield func(format.Raw, error) bool) {
		for _, id := range []format.ID{below, top} {
			if !yield(s.Objects.Get(id)) {
				return
			}
		}
	}
	storetest.Must[objects.PackInfo](t)(s.Objects.WritePack(raws, objects.Fast))
	before := kit.Texts(t, s)
	storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{Best: true}))
	c := storetest.Must[store.Counts](t)(store.Count(s.Opened))
	if c.Packs != 1 || !kit.Has(t, s, top) || !kit.Has(t, s, below) {
		t.Errorf("there are %d packs", c.Packs)
	}
	if kit.Texts(t, s) != before {
		t.Error("history is not what it was")
	}
	kit.Clean(t, s)
}

// What writes left behind goes when it is old; torn tails that were put aside stay.
func TestGCSweepsLeftovers(t *testing.T) {
	s := kit.Create(t)
	kit.Say(t, s, "talk", "hello")
	old := storetest.Start.Add(-2 * time.Hour)
	for _, name := range []string{".tmp-1", "refs/.tmp-2", "refs/.tmp-ctx-123456789",
		"cache/.tmp-3", "log/.tmp-4", "log/torn-9", "tmp/x", "absent/ab/.tmp-5",
		"objects/pack/.tmp-6"} {
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	s.Store.OnCollect(func(_ *refs.View, before time.Time, dry bool) (int, error) {
		want := storetest.Start.Add(-s.Config.GC.Grace)
		if d := before.Sub(want); d < 0 || d > time.Minute || dry {
			t.Errorf("answers before %v go, want %v; dry: %v", before, want, dry)
		}
		return 3, nil
	})
	young := filepath.Join(s.Dir, "refs", ".tmp-young")
	if err := os.WriteFile(young, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(young, storetest.Start, storetest.Start); err != nil {
		t.Fatal(err)
	}
	done := storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{}))
	if done.Temp != 8 || done.Answers != 3 {
		t.Errorf("swept %d, and %d answers", done.Temp, done.Answers)
	}
	for _, path := range []string{young, filepath.Join(s.Dir, "log", "torn-9")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
