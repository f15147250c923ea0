package fsck_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// inUse are the objects that refs and the log lead to.
func inUse(t testing.TB, s *session.Store) map[format.ID]bool {
	t.Helper()
	inv := storetest.Must[*graph.Inventory](t)(
		graph.TakeInventory(s.Opened, func(_ string, err error) error { return err }))
	g := storetest.Must[*graph.Graph](t)(graph.Read(context.Background(), s.Opened, inv,
		graph.Eye{}, nil))
	w := graph.Walk{Graph: g, Mark: graph.Reached}
	roots := append(graph.RootsOfRefs(storetest.View(t, s).All()),
		graph.RootsOfBase(graph.RefsOf(storetest.Must[*format.Checkpoint](t)(s.Refs.Base())))...)
	if err := s.Refs.Forward(func(r refs.Record) bool {
		roots = append(roots, graph.RootsOfRecord(r.Op)...)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for _, r := range roots {
		if err := w.From(storetest.Must[uint32](t)(g.Meet(r.ID))); err != nil {
			t.Fatal(err)
		}
	}
	used := map[format.ID]bool{}
	for i := range uint32(g.Len()) {
		used[g.ID(i)] = g.Marks[i]&graph.Reached != 0
	}
	return used
}

// Every file of a store is flipped, cut short and deleted; fsck says which one it was, or what is
// missing.
func TestFsckNamesEveryDamagedFile(t *testing.T) {
	s := kit.Old(t, 5)
	used := inUse(t, s)
	r := rand.New(rand.NewPCG(1, 1))
	base := storetest.Must[*format.Checkpoint](t)(s.Refs.Base())
	tried := 0
	for _, path := range kit.Files(t, s.Dir) {
		name := filepath.ToSlash(storetest.Must[string](t)(filepath.Rel(s.Dir, path)))
		top, _, _ := strings.Cut(name, "/")
		if top != "objects" && top != "refs" && top != "absent" && top != "key" {
			continue
		}
		good := storetest.Must[[]byte](t)(os.ReadFile(path))
		for _, how := range []string{"flip", "cut", "delete"} {
			id, err := format.ParseID(
				strings.ReplaceAll(strings.TrimPrefix(name, "objects/"), "/", ""))
			if how == "delete" && err == nil && !used[id] {
				continue
			}
			from := 0
			if name == fmt.Sprintf("refs/log-%d", base.Segment) && int(base.Offset) < len(good) {
				from = int(base.Offset) // what is before it is kept no more
			}
			damage(t, path, good, from, how, r)
			if how == "delete" && err == nil && kit.Has(t, s, id) {
				continue // a pack has it too
			}
			report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), kit.Fresh(t,
				s).Opened,
				fsck.Options{}))
			if strings.HasPrefix(name, "refs/log-") && how == "cut" {
				if len(report.Faults) == 0 && len(report.Notes) == 0 {
					t.Errorf("%s %s: nothing said", how, name)
				}
			} else if len(report.Faults) == 0 {
				t.Errorf("%s %s: no fault; notes %q", how, name, report.Notes)
			} else if !names(report, path, name) && how != "delete" {
				t.Errorf("%s %s: not named by %v", how, name, report.Faults[0])
			}
			tried++
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	kit.Clean(t, kit.Fresh(t, s))
	t.Logf("%d damages", tried)
}

func damage(t testing.TB, path string, good []byte, from int, how string, r *rand.Rand) {
	t.Helper()
	bad := bytes.Clone(good)
	var err error
	switch how {
	case "flip":
		bad[from+r.IntN(len(bad)-from)] ^= 1 << r.IntN(8)
		err = os.WriteFile(path, bad, 0o600)
	case "cut":
		err = os.WriteFile(path, bad[:r.IntN(len(bad))], 0o600)
	case "delete":
		err = os.Remove(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// names reports whether a fault points at a file, by its path or by the id that is its name.
func names(report fsck.Report, path, name string) bool {
	digits := strings.NewReplacer("/", "", "objects", "", "absent", "", "pack", "", "-", "", ".idx",
		"", ".", "").Replace(name)
	for _, f := range report.Faults {
		if f.Path == path || strings.Contains(f.String(), path) ||
			len(digits) == format.IDLen && strings.Contains(f.String(), digits) {
			return true
		}
		if name == "key" && f.Kind == "key" || name == "refs/base" && f.Kind == "log" {
			return true
		}
	}
	return false
}

// What is recorded and cannot be so is found: by the values of refs, by the decisions, by what
// they name.
func TestFsckFindsWhatCannotBe(t *testing.T) {
	from := kit.Create(t)
	kit.Live(t, from, rand.New(rand.NewPCG(21, 1)), 40)
	kit.Say(t, from, "talk", "one", "two", "three", "four", "five", "six", "seven", "eight",
		"nine", "ten")
	storetest.Must[clusters.Graduation](t)(from.Conversation.Graduate(context.Background(), "talk",
		history.MainBranch))
	storetest.Must[summaries.Compaction](t)(from.Compaction.Compact(context.Background(),
		compaction.CompactOptions{Branches: []history.BranchName{{Session: "talk",
			Branch: history.MainBranch}}}))
	kit.Say(t, from, "talk", "eleven")
	kit.Clean(t, from)
	const ref = "sessions/talk/main"
	type change func(s *session.Store, v format.Value, op *format.Operation)
	for want, change := range map[string]change{
		"not in order": func(s *session.Store, v format.Value, op *format.Operation) {
			n := v
			n.Frontier += 1000
			op.Refs = []format.RefUpdate{{Name: ref, Old: v, New: n}}
		},
		"in no cluster": func(s *session.Store, v format.Value, op *format.Operation) {
			n := v
			n.Frontier++
			op.Refs = []format.RefUpdate{{Name: ref, Old: v, New: n}}
		},
		"no message up to its branch's " +
			"frontier": func(s *session.Store, v format.Value, op *format.Operation) {
			decide(op, format.Decision{Kind: format.DecideJoin, Cluster: cluster(t, s), ID: v.ID})
		},
		"more than once": func(s *session.Store, v format.Value, op *format.Operation) {
			decide(op,
				format.Decision{Kind: format.DecideJoin, Cluster: cluster(t, s),
					ID: someMember(t, s)})
		},
		"member without session": func(s *session.Store, v format.Value, op *format.Operation) {
			top, _ := kit.Stray(t, s, "stranger")
			decide(op, format.Decision{Kind: format.DecideJoin, Cluster: cluster(t, s), ID: top})
		},
		"and covers node": func(s *session.Store, v format.Value, op *format.Operation) {
			st := storetest.Must[kit.State](t)(s.History.Forest(storetest.View(t, s)))
			c := st.Live()[0]
			decide(op,
				format.Decision{Kind: format.DecideSettle, Cluster: c.Number,
					ID: c.Covers[0].Summary, Count: 1})
		},
		"is not member": func(s *session.Store, v format.Value, op *format.Operation) {
			decide(op,
				format.Decision{Kind: format.DecideRetract, Cluster: cluster(t, s),
					ID: v.ID, Offset: 0})
		},
		"its decisions give": func(s *session.Store, v format.Value, op *format.Operation) {
			f := &format.Forest{Name: "main"}
			raw := format.Raw{Header: storetest.Must[[]byte](t)(f.Encode())}
			if err := s.Objects.Put(raw); err != nil {
				t.Fatal(err)
			}
			now := storetest.View(t, s).Get("forests/main")
			op.Refs = []format.RefUpdate{{Name: "forests/main", Old: now,
				New: format.Value{Kind: format.ObjectValue, ID: raw.ID()}}}
		},
		"which is of kind node": func(s *session.Store, v format.Value, op *format.Operation) {
			st := storetest.Must[kit.State](t)(s.History.Forest(storetest.View(t, s)))
			n := v
			n.Pin = storetest.Must[format.ID](t)(st.Node(st.Live()[0]))
			op.Refs = []format.RefUpdate{{Name: ref, Old: v, New: n}}
		},
	} {
		s := kit.Open(t, storetest.CopyStore(t, from.Dir), nil)
		view := storetest.View(t, s)
		op := &format.Operation{Verb: "wrong", Time: storetest.Start.Add(time.Hour),
			Effects: format.Effects{Undo: format.UndoPasses}}
		change(s, view.Get(ref), op)
		held, err := s.Lock(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Refs.Commit(held, view, op, nil); err != nil {
			t.Fatal(err)
		}
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), s.Opened,
			fsck.Options{}))
		if !strings.Contains(fmt.Sprint(report.Faults), want) {
			t.Errorf("%s: got %v", want, report.Faults)
		}
	}
}

func decide(op *format.Operation, d format.Decision) {
	op.Forests = []format.ForestUpdate{{Name: "main", Decisions: []format.Decision{d}}}
}

func cluster(t testing.TB, s *session.Store) uint64 {
	t.Helper()
	return storetest.Must[kit.State](t)(s.History.Forest(storetest.View(t, s))).Live()[0].Number
}

func someMember(t testing.TB, s *session.Store) format.ID {
	t.Helper()
	st := storetest.Must[kit.State](t)(s.History.Forest(storetest.View(t, s)))
	return storetest.Must[[]format.ID](t)(st.Members(st.Live()[0]))[0]
}

// A torn tail, leftovers and objects that nothing names are no faults.
func TestFsckNotes(t *testing.T) {
	s := kit.Create(t)
	kit.Say(t, s, "talk", "hello")
	top, _ := kit.Stray(t, s, "nobody's")
	path := filepath.Join(s.Dir, "refs", "log-1")
	log := storetest.Must[[]byte](t)(os.ReadFile(path))
	if err := os.WriteFile(path, append(log, "ctxo"...), 0o600); err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(s.Dir, "tmp", "x")
	if err := errors.Join(os.MkdirAll(filepath.Dir(temp), 0o700),
		os.WriteFile(temp, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(temp, storetest.Start.Add(-kit.Day),
		storetest.Start.Add(-kit.Day)); err != nil {
		t.Fatal(err)
	}
	report := kit.Clean(t, s)
	for _, want := range []string{"torn tail of 4 bytes", "1 leftovers",
		"2 objects that nothing names", top.String() + ` of session "nobody"`} {
		if !strings.Contains(strings.Join(report.Notes, "\n"), want) {
			t.Errorf("no %q in %q", want, report.Notes)
		}
	}
	if report.Operations != 1 || report.Objects != 3 {
		t.Errorf("%d operations, %d objects", report.Operations, report.Objects)
	}
}

// Of many entries that nothing names the newest sixteen are told, and how many there are besides.
func TestFsckNotesTheNewestDanglingEntries(t *testing.T) {
	s := kit.Create(t)
	kit.Say(t, s, "talk", "hello")
	for n := range 16 + 2 {
		kit.Stray(t, s, fmt.Sprintf("nobody's number %d", n))
	}
	told, more := 0, false
	for _, note := range kit.Clean(t, s).Notes {
		if strings.HasSuffix(note, "is named by nothing") {
			told++
		}
		more = more || note == "2 more such entries"
	}
	if told != 16 || !more {
		t.Errorf("%d entries are told, and the rest is counted: %v", told, more)
	}
}
