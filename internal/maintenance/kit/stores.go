package kit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// Old is a store that has been through everything: a cut log, packs, a forgotten
// body.
func Old(t testing.TB, seed uint64) *session.Store {
	t.Helper()
	s := Grow(t, seed)
	Age(t, s, storetest.Start.Add(-30*Day))
	s.Now = storetest.Clock(storetest.Start.Add(10 * Day))
	s.Objects.Now = s.Now
	storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{}))
	Live(t, s, rand.New(rand.NewPCG(seed, 8)), 12)
	Say(t, s, "talk", "a secret")
	ForgetEntry(t, s, storetest.View(t, s).Get("sessions/talk/main").ID)
	Say(t, s, "talk", "what came after")
	Clean(t, s)
	return s
}

// ForgetEntry forgets an entry.
func ForgetEntry(t testing.TB, s *session.Store, id format.ID) {
	t.Helper()
	storetest.Must[forget.Report](t)(forget.Run(context.Background(), s.Opened,
		forget.Options{IDs: []format.ID{id}}))
}

func Fresh(t testing.TB, s *session.Store) *session.Store {
	t.Helper()
	n := Open(t, s.Dir, nil)
	n.Now = storetest.Clock(storetest.Start.Add(10 * Day))
	return n
}

// FaultsOf are the faults of a store as it is on disk.
func FaultsOf(t testing.TB, s *session.Store) []fsck.Fault {
	t.Helper()
	return storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), Fresh(t, s).Opened,
		fsck.Options{})).Faults
}

// TipOf is the newest entry of a session.
func TipOf(t testing.TB, s *session.Store, name string) format.ID {
	t.Helper()
	return storetest.View(t, s).Get(history.RefName(name, history.MainBranch)).ID
}

// TakeOut removes the body of an object in the log by hand, and writes a record that it was
// forgotten.
func TakeOut(t testing.TB, s *session.Store, id format.ID) {
	t.Helper()
	storetest.Spread(t, s)
	record := format.Absent{Object: id, Reason: format.ReasonForgotten, Time: storetest.Start}
	err := errors.Join(os.MkdirAll(filepath.Dir(s.Objects.AbsentPath(id)), 0o700),
		os.WriteFile(s.Objects.AbsentPath(id), storetest.Must[[]byte](t)(record.Encode()), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	storetest.Strip(t, s, id)
}

func Must2(
	t testing.TB,
) func([]conversation.Appended, []sanitize.Finding, error) []conversation.Appended {
	return func(done []conversation.Appended, _ []sanitize.Finding,
		err error) []conversation.Appended {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
}

type View = refs.View

func Read(s *session.Store) (*View, error) { return s.Refs.Read() }

func Has(t testing.TB, s *session.Store, id format.ID) bool {
	t.Helper()
	return storetest.Must[bool](t)(s.Objects.Has(id))
}

// Grow makes a store with packs of several ages, garbage in them, and a log whose beginning can
// go. One seed's is built once.
func Grow(t testing.TB, seed uint64) *session.Store {
	t.Helper()
	grown.Lock()
	defer grown.Unlock()
	if grown.dirs[seed] == "" {
		s := build(t, seed)
		grown.dirs[seed] = filepath.Join(grown.root, fmt.Sprint(seed))
		storetest.CopyInto(t, s.Dir, grown.dirs[seed])
	}
	return Open(t, storetest.CopyStore(t, grown.dirs[seed]), nil)
}

var grown struct {
	sync.Mutex
	root string
	dirs map[uint64]string
}

// Main runs the tests of a package that uses stores of grow, and removes these afterwards.
func Main(m *testing.M) {
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
	s := Create(t)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 2 {
		Live(t, s, r, 15)
		for _, name := range []string{"talk", "late", "other"} {
			Say(t, s, name, Chatter(r), Chatter(r), Chatter(r), Chatter(r), Chatter(r), Chatter(r),
				Chatter(r), Chatter(r))
			storetest.Must[summaries.Compaction](t)(s.Compaction.Compact(context.Background(),
				compaction.CompactOptions{Branches: []history.BranchName{{Session: name,
					Branch: history.MainBranch}}}))
		}
	}
	var batch []string
	for range 90 {
		batch = append(batch, Chatter(r))
	}
	Say(t, s, "gone", batch...)
	storetest.Must[int](t)(s.Conversation.RemoveSession(context.Background(), "gone"))
	// Operations up to one that writes the forest for a checkpoint: that is only where decisions are
	// pending then.
	for i := 0; ; i++ {
		view := storetest.View(t, s)
		switch {
		case i > 0 && len(view.Since) == 0:
			return s
		case len(view.Since) < refs.CheckpointEvery-1 && i%40 != 0,
			len(view.Since) == refs.CheckpointEvery-1 && view.PendingCount("main") > 0:
			for _, name := range []string{"late", "talk", "other"} {
				if view.Get("HEAD").Name != name {
					if err := s.Conversation.Use(context.Background(), name); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
		default:
			Say(t, s, "ticker", Chatter(r))
		}
	}
}

func Update(t testing.TB, s *session.Store, name string, id format.ID) {
	t.Helper()
	held, err := s.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Release() }()
	view := storetest.Must[*View](t)(s.Refs.Begin(held))
	op := &format.Operation{Verb: "update-ref", Time: s.Now().Truncate(time.Millisecond)}
	op.Refs = []format.RefUpdate{{Name: name, Old: view.Get(name),
		New: format.Value{Kind: format.ObjectValue, ID: id}}}
	if _, err := s.Refs.Commit(held, view, op, nil); err != nil {
		t.Fatal(err)
	}
}

type State = *forest.State
