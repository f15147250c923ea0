package upkeep

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

// old is a store that has been through everything: a cut log, a pack, loose objects, a forgotten body.
func old(t testing.TB, seed uint64) *session.Store {
	t.Helper()
	s := grow(t, seed)
	age(t, s, start.Add(-30*day))
	s.Now = clock(start.Add(10 * day))
	s.Objects.Now = s.Now
	must[GCReport](t)(GC(context.Background(), s, GCOptions{}))
	live(t, s, rand.New(rand.NewPCG(seed, 8)), 12)
	say(t, s, "talk", "a secret")
	forget(t, s, must[*viewOf](t)(read(s)).Get("sessions/talk/main").ID)
	say(t, s, "talk", "what came after")
	clean(t, s)
	return s
}

// forget forgets an entry.
func forget(t testing.TB, s *session.Store, id format.ID) {
	t.Helper()
	must[ForgetReport](t)(Forget(context.Background(), s, ForgetOptions{IDs: []format.ID{id}}))
}

// inUse are the objects that refs and the log lead to.
func inUse(t testing.TB, s *session.Store) map[format.ID]bool {
	t.Helper()
	f := &checker{ctx: context.Background(), s: s, told: map[Fault]bool{}}
	f.checkLog()
	f.checkPlaces()
	f.checkGraph()
	used := map[format.ID]bool{}
	for i, o := range f.graph.objects {
		used[o.id] = f.graph.marks[i]&reached != 0
	}
	return used
}

// Every file of a store is flipped, cut short and deleted; fsck says which one it was, or what is missing.
func TestFsckNamesEveryDamagedFile(t *testing.T) {
	s := old(t, 5)
	used := inUse(t, s)
	r := rand.New(rand.NewPCG(1, 1))
	base := must[*format.Checkpoint](t)(s.Refs.Base())
	tried := 0
	for _, path := range files(t, s.Dir) {
		name := filepath.ToSlash(must[string](t)(filepath.Rel(s.Dir, path)))
		top, _, _ := strings.Cut(name, "/")
		if top != "objects" && top != "refs" && top != "absent" && top != "key" {
			continue
		}
		good := must[[]byte](t)(os.ReadFile(path))
		for _, how := range []string{"flip", "cut", "delete"} {
			id, err := format.ParseID(strings.ReplaceAll(strings.TrimPrefix(name, "objects/"), "/", ""))
			if how == "delete" && err == nil && !used[id] {
				continue
			}
			from := 0
			if name == fmt.Sprintf("refs/log-%d", base.Segment) {
				from = int(base.Offset) // what is before it is kept no more
			}
			damage(t, path, good, from, how, r)
			if how == "delete" && err == nil && has(t, s, id) {
				continue // a pack has it too
			}
			report := must[FsckReport](t)(Fsck(context.Background(), fresh(t, s), FsckOptions{}))
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
	clean(t, fresh(t, s))
	t.Logf("%d damages", tried)
}

func fresh(t testing.TB, s *session.Store) *session.Store {
	t.Helper()
	n := open(t, s.Dir, nil)
	n.Now = clock(start.Add(10 * day))
	return n
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
func names(report FsckReport, path, name string) bool {
	digits := strings.NewReplacer("/", "", "objects", "", "absent", "", "pack", "", "-", "", ".idx", "", ".", "").Replace(name)
	for _, f := range report.Faults {
		if f.Path == path || strings.Contains(f.String(), path) || len(digits) == format.IDLen && strings.Contains(f.String(), digits) {
			return true
		}
		if name == "key" && f.Kind == "key" || name == "refs/base" && f.Kind == "log" {
			return true
		}
	}
	return false
}

// What is recorded and cannot be so is found: by the values of refs, by the decisions, by what they name.
func TestFsckFindsWhatCannotBe(t *testing.T) {
	from := create(t)
	live(t, from, rand.New(rand.NewPCG(21, 1)), 40)
	say(t, from, "talk", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
	must[session.Graduation](t)(from.Graduate(context.Background(), "talk", session.MainBranch))
	must[session.Compaction](t)(from.Compact(context.Background(), session.CompactOptions{Branches: []session.BranchName{{Session: "talk", Branch: session.MainBranch}}}))
	say(t, from, "talk", "eleven")
	clean(t, from)
	const ref = "sessions/talk/main"
	for want, change := range map[string]func(s *session.Store, v format.Value, op *format.Operation){
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
		"no message up to its branch's frontier": func(s *session.Store, v format.Value, op *format.Operation) {
			decide(op, format.Decision{Kind: format.DecideJoin, Cluster: cluster(t, s), ID: v.ID})
		},
		"more than once": func(s *session.Store, v format.Value, op *format.Operation) {
			decide(op, format.Decision{Kind: format.DecideJoin, Cluster: cluster(t, s), ID: someMember(t, s)})
		},
		"member without session": func(s *session.Store, v format.Value, op *format.Operation) {
			top, _ := stray(t, s, "stranger")
			decide(op, format.Decision{Kind: format.DecideJoin, Cluster: cluster(t, s), ID: top})
		},
		"and covers node": func(s *session.Store, v format.Value, op *format.Operation) {
			st := must[stateOf](t)(s.Forest(must[*viewOf](t)(read(s))))
			c := st.Live()[0]
			decide(op, format.Decision{Kind: format.DecideSettle, Cluster: c.Number, ID: c.Covers[0].Summary, Count: 1})
		},
		"is not member": func(s *session.Store, v format.Value, op *format.Operation) {
			decide(op, format.Decision{Kind: format.DecideRetract, Cluster: cluster(t, s), ID: v.ID, Offset: 0})
		},
		"its decisions give": func(s *session.Store, v format.Value, op *format.Operation) {
			f := &format.Forest{Name: "main"}
			raw := format.Raw{Header: must[[]byte](t)(f.Encode())}
			if err := s.Objects.Put(raw); err != nil {
				t.Fatal(err)
			}
			now := must[*viewOf](t)(read(s)).Get("forests/main")
			op.Refs = []format.RefUpdate{{Name: "forests/main", Old: now, New: format.Value{Kind: format.ObjectValue, ID: raw.ID()}}}
		},
		"which is of kind node": func(s *session.Store, v format.Value, op *format.Operation) {
			st := must[stateOf](t)(s.Forest(must[*viewOf](t)(read(s))))
			n := v
			n.Pin = must[format.ID](t)(st.Node(st.Live()[0]))
			op.Refs = []format.RefUpdate{{Name: ref, Old: v, New: n}}
		},
	} {
		s := open(t, copyStore(t, from.Dir), nil)
		view := must[*viewOf](t)(read(s))
		op := &format.Operation{Verb: "wrong", Time: start.Add(time.Hour)}
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
		report := must[FsckReport](t)(Fsck(context.Background(), s, FsckOptions{}))
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
	return must[stateOf](t)(s.Forest(must[*viewOf](t)(read(s)))).Live()[0].Number
}

func someMember(t testing.TB, s *session.Store) format.ID {
	t.Helper()
	st := must[stateOf](t)(s.Forest(must[*viewOf](t)(read(s))))
	return must[[]format.ID](t)(st.Members(st.Live()[0]))[0]
}

// A torn tail, leftovers and objects that nothing names are no faults.
func TestFsckNotes(t *testing.T) {
	s := create(t)
	say(t, s, "talk", "hello")
	top, _ := stray(t, s, "nobody's")
	path := filepath.Join(s.Dir, "refs", "log-1")
	log := must[[]byte](t)(os.ReadFile(path))
	if err := os.WriteFile(path, append(log, "ctxo"...), 0o600); err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(s.Dir, "tmp", "x")
	if err := os.WriteFile(temp, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(temp, start.Add(-day), start.Add(-day)); err != nil {
		t.Fatal(err)
	}
	report := clean(t, s)
	for _, want := range []string{"torn tail of 4 bytes", "1 leftovers", "2 objects that nothing names", top.String() + ` of session "nobody"`} {
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
	s := create(t)
	say(t, s, "talk", "hello")
	for n := range mostDangling + 2 {
		stray(t, s, fmt.Sprintf("nobody's number %d", n))
	}
	told, more := 0, false
	for _, note := range clean(t, s).Notes {
		if strings.HasSuffix(note, "is named by nothing") {
			told++
		}
		more = more || note == "2 more such entries"
	}
	if told != 16 || !more {
		t.Errorf("%d entries are told, and the rest is counted: %v", told, more)
	}
}
