package upkeep

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
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/lock/locktest"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

type viewOf = refs.View

func read(s *session.Store) (*viewOf, error) { return s.Refs.Read() }

func has(t testing.TB, s *session.Store, id format.ID) bool {
	t.Helper()
	return must[bool](t)(s.Objects.Has(id))
}

// What is reachable stays, byte for byte; what is not goes after the grace period and no sooner; a dry run says the same.
func TestGCKeepsAndPrunes(t *testing.T) {
	for seed := range uint64(3) {
		s := create(t)
		r := rand.New(rand.NewPCG(seed, 1))
		live(t, s, r, 60)
		clean(t, s)
		oldTop, oldBelow := stray(t, s, "old")
		age(t, s, start.Add(-30*day))
		newTop, newBelow := stray(t, s, "new")
		if err := os.Chtimes(filepath.Join(s.Dir, "objects", newBelow.String()[:2], newBelow.String()[2:]), start.Add(-30*day), start.Add(-30*day)); err != nil {
			t.Fatal(err)
		}
		before := texts(t, s)
		dry := must[GCReport](t)(GC(context.Background(), s, GCOptions{DryRun: true}))
		if !has(t, s, oldTop) {
			t.Fatal("a dry run removed something")
		}
		done := must[GCReport](t)(GC(context.Background(), s, GCOptions{Best: seed%2 == 1}))
		if seed%2 == 0 {
			dry.After = done.After
			if done != dry {
				t.Errorf("dry run %+v, run %+v", dry, done)
			}
		}
		if has(t, s, oldTop) || has(t, s, oldBelow) {
			t.Error("what nothing names is still there")
		}
		if !has(t, s, newTop) || !has(t, s, newBelow) {
			t.Error("what is young lost what it stands on")
		}
		if got := texts(t, s); got != before {
			t.Errorf("history is not what it was")
		}
		clean(t, s)
		counts := must[Counts](t)(Count(s))
		if counts.Loose != 2 || counts.Packs == 0 {
			t.Errorf("after gc: %+v", counts)
		}
		again := must[GCReport](t)(GC(context.Background(), s, GCOptions{}))
		if again.Packed != 0 || again.PrunedLoose+again.PrunedPacked != 0 || again.Kept != done.Kept {
			t.Errorf("again: %+v after %+v", again, done)
		}
		live(t, s, r, 20)
		clean(t, s)
	}
}

// grow makes a store with packs of several ages, garbage in them, and a log whose beginning can go. One seed's is built once.
func grow(t testing.TB, seed uint64) *session.Store {
	t.Helper()
	grown.Lock()
	defer grown.Unlock()
	if grown.dirs[seed] == "" {
		s := build(t, seed)
		grown.dirs[seed] = filepath.Join(grown.root, fmt.Sprint(seed))
		copyInto(t, s.Dir, grown.dirs[seed])
	}
	return open(t, copyStore(t, grown.dirs[seed]), nil)
}

var grown struct {
	sync.Mutex
	root string
	dirs map[uint64]string
}

func TestMain(m *testing.M) {
	root, err := os.MkdirTemp("", "ctx-upkeep-")
	if err != nil {
		panic(err)
	}
	grown.root, grown.dirs = root, map[uint64]string{}
	code := m.Run()
	_ = os.RemoveAll(root)
	os.Exit(code)
}

func build(t testing.TB, seed uint64) *session.Store {
	t.Helper()
	s := create(t)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 2 {
		live(t, s, r, 15)
		for _, name := range []string{"talk", "late", "other"} {
			say(t, s, name, chatter(r), chatter(r), chatter(r), chatter(r), chatter(r), chatter(r), chatter(r), chatter(r))
			must[session.Compaction](t)(s.Compact(context.Background(), session.CompactOptions{Branches: []session.BranchName{{Session: name, Branch: session.MainBranch}}}))
		}
	}
	var batch []string
	for range 90 {
		batch = append(batch, chatter(r))
	}
	say(t, s, "gone", batch...)
	must[int](t)(s.RemoveSession(context.Background(), "gone"))
	// Operations up to one that writes the forest for a checkpoint: that is only where decisions are pending then.
	for i := 0; ; i++ {
		view := must[*viewOf](t)(read(s))
		switch {
		case i > 0 && len(view.Since) == 0:
			return s
		case len(view.Since) < refs.CheckpointEvery-1 && i%40 != 0, len(view.Since) == refs.CheckpointEvery-1 && len(view.Pending("main")) > 0:
			for _, name := range []string{"late", "talk", "other"} {
				if view.Get("HEAD").Name != name {
					if err := s.Use(context.Background(), name); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
		default:
			say(t, s, "ticker", chatter(r))
		}
	}
}

// Old log goes, with what only it named; the forest where it begins is made to last; what is left replays.
func TestGCDropsTheLog(t *testing.T) {
	for _, seed := range []uint64{5, 13} {
		s := grow(t, seed)
		age(t, s, start.Add(-30*day))
		s.Now = clock(start.Add(10 * day))
		s.Objects.Now = s.Now
		live(t, s, rand.New(rand.NewPCG(seed, 3)), 20)
		before := texts(t, s)
		dry := must[GCReport](t)(GC(context.Background(), s, GCOptions{DryRun: true}))
		done := must[GCReport](t)(GC(context.Background(), s, GCOptions{}))
		if base := must[*format.Checkpoint](t)(s.Refs.Base()); base.Number == 0 {
			t.Fatal("the log was not cut")
		}
		if done.PrunedPacked < 90 {
			t.Errorf("the removed session is still there: %+v", done)
		}
		if dry.PrunedPacked != done.PrunedPacked || dry.Segments != done.Segments {
			t.Errorf("dry run %+v, run %+v", dry, done)
		}
		if got := texts(t, s); got != before {
			t.Error("history is not what it was")
		}
		clean(t, s)
		rebuilt := must[RebuildReport](t)(Rebuild(context.Background(), s, RebuildOptions{}))
		if !rebuilt.Same || rebuilt.Objects != 0 {
			t.Errorf("rebuild: %+v", rebuilt)
		}
		live(t, s, rand.New(rand.NewPCG(seed, 4)), 20)
		clean(t, s)
	}
}

// gc is stopped at each of its durable calls, before it and with half of what it writes. The store is whole each time, and the next gc
// finishes.
func TestGCStopAtEveryCall(t *testing.T) {
	s := grow(t, 5)
	age(t, s, start.Add(-30*day))
	later := func(s *session.Store) *session.Store {
		s.Now = clock(start.Add(10 * day))
		s.Objects.Now = s.Now
		return s
	}
	want := texts(t, s)
	whole := copyStore(t, s.Dir)
	ageDir(t, whole)
	points := locktest.Stops(func(fsys *lock.FS) {
		must[GCReport](t)(GC(context.Background(), later(open(t, whole, fsys)), GCOptions{}))
	})
	scratch := tempDir(t)
	for n, at := range points {
		dir := filepath.Join(scratch, ".gemini", "context")
		copyInto(t, s.Dir, dir)
		ageDir(t, dir)
		if _, err := GC(context.Background(), later(open(t, dir, at.FS())), GCOptions{}); err != nil && !errors.Is(err, lock.ErrStopped) {
			t.Fatalf("stop at %v: %v", at, err)
		}
		after := later(open(t, dir, nil))
		clean(t, after)
		if got := texts(t, after); got != want {
			t.Fatalf("stop at %v: history is not what it was", at)
		}
		if n%4 == 0 {
			must[GCReport](t)(GC(context.Background(), after, GCOptions{}))
			clean(t, after)
		}
		_ = after.Close()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d stops", len(points))
}

func ageDir(t testing.TB, dir string) {
	t.Helper()
	for _, path := range files(t, filepath.Join(dir, "objects")) {
		if err := os.Chtimes(path, start.Add(-30*day), start.Add(-30*day)); err != nil {
			t.Fatal(err)
		}
	}
}

// While gc packs, somebody names what it is about to remove, and somebody else puts another piece of it again. Both stay, with what they
// stand on.
func TestGCFoldsInWhatIsNamedMeanwhile(t *testing.T) {
	s := grow(t, 13)
	named, namedBelow := stray(t, s, "named")
	put, putBelow := stray(t, s, "put")
	gone, _ := stray(t, s, "gone")
	age(t, s, start.Add(-30*day))
	once := sync.OnceFunc(func() {
		other := open(t, s.Dir, nil)
		update(t, other, "user/keep", named)
		if top, _ := stray(t, other, "put"); top != put {
			t.Errorf("put %v, want %v", top, put)
		}
		if err := os.Chtimes(filepath.Join(s.Dir, "objects", putBelow.String()[:2], putBelow.String()[2:]), start.Add(-30*day), start.Add(-30*day)); err != nil {
			t.Error(err)
		}
		say(t, other, "talk", "and a message")
	})
	must[GCReport](t)(GC(context.Background(), s, GCOptions{Progress: func(_, _ int, what string) {
		if what == "packing" {
			once()
		}
	}}))
	for _, id := range []format.ID{named, namedBelow, put, putBelow} {
		if !has(t, s, id) {
			t.Errorf("%v was removed", id)
		}
	}
	if has(t, s, gone) {
		t.Error("garbage stayed")
	}
	clean(t, s)
}

func update(t testing.TB, s *session.Store, name string, id format.ID) {
	t.Helper()
	held, err := s.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	view := must[*viewOf](t)(s.Refs.Begin(held))
	op := &format.Operation{Verb: "update-ref", Time: s.Now().Truncate(time.Millisecond)}
	op.Refs = []format.RefUpdate{{Name: name, Old: view.Get(name), New: format.Value{Kind: format.ObjectValue, ID: id}}}
	if _, err := s.Refs.Commit(held, view, op, nil); err != nil {
		t.Fatal(err)
	}
}

// Readers and a writer go on while gc runs over and over.
func TestGCBesideReadersAndWriters(t *testing.T) {
	s := grow(t, 13)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	errs := make(chan error, 8)
	for range 2 {
		reader := open(t, s.Dir, nil)
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
	writer := open(t, s.Dir, nil)
	wg.Go(func() {
		for i := range 40 {
			batch := []session.Message{{Role: "user", Text: fmt.Sprint("line ", i)}}
			if _, _, err := writer.Append(context.Background(), "talk", session.MainBranch, batch, session.AppendOptions{}); err != nil {
				errs <- fmt.Errorf("writer: %w", err)
				return
			}
		}
	})
	for range 5 {
		if _, err := GC(context.Background(), s, GCOptions{Best: true}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	clean(t, s)
	if !strings.Contains(texts(t, s), "line 39") {
		t.Error("a message is missing")
	}
}

func readAll(s *session.Store) error {
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	for _, name := range view.Names("sessions/") {
		if _, err := s.Log(view.Get(name).ID, session.LogOptions{All: true}); err != nil {
			return err
		}
	}
	return nil
}

// gc removes nothing from a store in which something reachable is missing.
func TestGCRefusesDamage(t *testing.T) {
	s := grow(t, 13)
	top, _ := stray(t, s, "garbage")
	age(t, s, start.Add(-30*day))
	view := must[*viewOf](t)(read(s))
	tip := view.Get("sessions/talk/main").ID.String()
	if err := os.Remove(filepath.Join(s.Dir, "objects", tip[:2], tip[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := GC(context.Background(), s, GCOptions{}); err == nil || !strings.Contains(err.Error(), tip) {
		t.Errorf("got %v", err)
	}
	if !has(t, s, top) {
		t.Error("something was removed all the same")
	}
}

// --auto works above its limit only; small packs are merged when they have become many.
func TestGCAutoAndMerging(t *testing.T) {
	s := create(t)
	s.Config.GC.Auto = 1000
	r := rand.New(rand.NewPCG(3, 3))
	live(t, s, r, 10)
	if done := must[GCReport](t)(GC(context.Background(), s, GCOptions{Auto: true})); !done.Idle {
		t.Errorf("worked: %+v", done)
	}
	most := 0
	for i := range 12 {
		var batch []string
		for range 40 {
			batch = append(batch, chatter(r))
		}
		say(t, s, "talk", batch...)
		must[GCReport](t)(GC(context.Background(), s, GCOptions{}))
		packs := must[Counts](t)(Count(s)).Packs
		if most = max(most, packs); packs > 6 {
			t.Errorf("round %d: %d packs", i, packs)
		}
	}
	s.Config.GC.Auto = 1
	say(t, s, "talk", chatter(r), chatter(r), chatter(r), chatter(r), chatter(r), chatter(r), chatter(r), chatter(r))
	must[GCReport](t)(GC(context.Background(), s, GCOptions{Best: true}))
	if c := must[Counts](t)(Count(s)); c.Packs != 1 || c.Loose != 0 {
		t.Errorf("after the best: %+v", c)
	}
	if again := must[GCReport](t)(GC(context.Background(), s, GCOptions{Best: true})); again.After != again.Before {
		t.Errorf("the best again: %+v", again)
	}
	clean(t, s)
}

// What writes left behind goes when it is old; torn tails that were put aside stay.
func TestGCSweepsLeftovers(t *testing.T) {
	s := create(t)
	say(t, s, "talk", "hello")
	old := start.Add(-2 * time.Hour)
	for _, name := range []string{".tmp-1", "refs/.tmp-2", "cache/.tmp-3", "log/.tmp-4", "log/torn-9", "tmp/x", "objects/ab/.tmp-5", "objects/pack/.tmp-6"} {
		path := filepath.Join(s.Dir, filepath.FromSlash(name))
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	young := filepath.Join(s.Dir, "refs", ".tmp-young")
	if err := os.WriteFile(young, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(young, start, start); err != nil {
		t.Fatal(err)
	}
	done := must[GCReport](t)(GC(context.Background(), s, GCOptions{}))
	if done.Temp != 7 {
		t.Errorf("swept %d", done.Temp)
	}
	for _, path := range []string{young, filepath.Join(s.Dir, "log", "torn-9")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
