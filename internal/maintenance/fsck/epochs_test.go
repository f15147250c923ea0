package fsck_test

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
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
)

// rendered is what a model is given of every session, and what the epochs say.
func rendered(t testing.TB, s *session.Store) string {
	t.Helper()
	var b bytes.Buffer
	v := storetest.View(t, s)
	for _, name := range v.Names("sessions/") {
		talk, branch, _ := strings.Cut(strings.TrimPrefix(name, "sessions/"), "/")
		in := storetest.Must[view.Input](t)(s.Recall.RenderInput(v, talk, branch, view.Options{}))
		out := storetest.Must[view.Output](t)(view.Render(in, view.Options{Format: view.Gemini}))
		shown := storetest.Must[recall.EpochShown](t)(s.Recall.EpochAt(v.Get(name).ID))
		fmt.Fprintf(&b, "%s %s\n%+v\n", name, out.Bytes, shown)
	}
	return b.String()
}

// E51: everything that is not the log and its objects is made again, and the same is rendered,
// byte for byte.
func TestE51_rebuilt_from_the_log(t *testing.T) {
	s := kit.Create(t)
	r := rand.New(rand.NewPCG(51, 1))
	for i := range 60 {
		kit.Observe(t, s, "talk", r.IntN(3))
		kit.Say(t, s, "talk", kit.Chatter(r))
		if i%9 == 8 {
			kit.Live(t, s, r, 3)
		}
	}
	want := rendered(t, s)
	if !strings.Contains(want, "system-update") || !strings.Contains(want, "systemInstruction") {
		t.Fatalf("nothing was told:\n%s", want)
	}
	storetest.Must[repair.RebuildReport](t)(repair.Rebuild(context.Background(), s.Opened,
		repair.RebuildOptions{}))
	if err := os.RemoveAll(filepath.Join(s.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	again := kit.Open(t, s.Dir, nil)
	if got := rendered(t, again); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	kit.Clean(t, again)
}

// What an epoch names is kept as long as it is, and not longer.
func TestGCKeepsEpochs(t *testing.T) {
	s := kit.Create(t)
	r := rand.New(rand.NewPCG(52, 1))
	for range 40 {
		kit.Observe(t, s, "talk", r.IntN(3))
		kit.Say(t, s, "talk", kit.Chatter(r))
	}
	want := rendered(t, s)
	kit.Age(t, s, storetest.Start.Add(-30*kit.Day))
	s.Now = storetest.Clock(storetest.Start.Add(10 * kit.Day))
	s.Objects.Now = s.Now
	storetest.Must[gc.Report](t)(gc.Run(context.Background(), s.Opened, gc.Options{}))
	s = kit.Open(t, s.Dir, nil)
	if got := rendered(t, s); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	kit.Clean(t, s)
}

// The ref of a branch's epoch is held to the branch.
func TestFsckOfEpochRefs(t *testing.T) {
	for _, tt := range []struct {
		name string
		move func(first, now format.Value) (string, format.Value, format.Value)
	}{
		{"another epoch", func(first, now format.Value) (string, format.Value, format.Value) {
			return "epochs/talk/main", now, first
		}},
		{"none", func(_, now format.Value) (string, format.Value, format.Value) {
			return "epochs/talk/main", now, format.Value{}
		}},
		{"of no branch", func(first, _ format.Value) (string, format.Value, format.Value) {
			return "epochs/talk/other", format.Value{}, first
		}},
		{"where nothing was told",
			func(first, _ format.Value) (string, format.Value, format.Value) {
				return "epochs/late/main", format.Value{}, first
			}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := kit.Create(t)
			kit.Say(t, s, "late", "x")
			kit.Observe(t, s, "talk", 1)
			first := storetest.View(t, s).Get("epochs/talk/main")
			kit.Say(t, s, "talk", "x")
			kit.Observe(t, s, "talk", 2)
			kit.Clean(t, s)
			name, old, to := tt.move(first, storetest.View(t, s).Get("epochs/talk/main"))
			held, err := s.Lock(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.Refs.Begin(held)
			if err == nil {
				op := &format.Operation{Verb: "x", Time: s.Now().Truncate(time.Millisecond),
					Effects: format.Effects{Undo: format.UndoPasses},
					Refs:    []format.RefUpdate{{Name: name, Old: old, New: to}}}
				_, err = s.Refs.Commit(held, v, op, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := held.Release(); err != nil {
				t.Fatal(err)
			}
			report := storetest.Must[fsck.Report](t)(fsck.Run(context.Background(), s.Opened,
				fsck.Options{}))
			if len(report.Faults) != 1 || report.Faults[0].Kind != "ref" ||
				report.Faults[0].Subject != name {
				t.Fatalf("faults: %v", report.Faults)
			}
		})
	}
}
