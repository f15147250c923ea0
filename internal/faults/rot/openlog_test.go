package rot

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// openLog makes a store whose objects are all in the open segment of its log.
func openLog(t *testing.T) (dir string, log *file, ids []format.ID) {
	t.Helper()
	e := storetest.Env(place(t), nil)
	e.Now = storetest.Clock(Later)
	s := storetest.Init(t, e)
	for _, text := range []string{"first", "second, and a longer one", "third"} {
		storetest.Say(t, s, "work", "user", text)
		storetest.Say(t, s, "other", "user", "other "+text)
	}
	dir = s.Dir
	ids, err := IDs(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log = &file{name: "refs/log-1", path: filepath.Join(dir, "refs", "log-1"), kind: "log"}
	if log.good, err = os.ReadFile(log.path); err != nil {
		t.Fatal(err)
	}
	return dir, log, ids
}

// One damaged byte of the open segment hides nothing, is named by fsck, and stops no append; a
// repair makes the log what it was.
func TestByteOfTheOpenLog(t *testing.T) {
	dir, log, ids := openLog(t)
	right, err := ReadObjects(dir, ids)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(14, 1))
	begin := log.borders()[0]
	for i, at := range r.Perm(len(log.good) - begin)[:72] {
		if !mine(t, i) {
			continue
		}
		bad := bytes.Clone(log.good)
		bad[begin+at] ^= byte(1 + r.IntN(255))
		d := log.becomes("a byte changed", bad)
		if err := d.do(); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadObjects(dir, ids); err != nil || !same(got, right) {
			t.Errorf("byte %d: not everything is read as before: %v", begin+at, err)
		}
		withStore(t, dir, func(s *session.Store) {
			if found := faults(t, s); len(found) != 1 || found[0].Kind != "log" {
				t.Errorf("byte %d: fsck finds %v", begin+at, found)
			}
			if err := goOn(s, "work", "main"); err != nil {
				t.Errorf("byte %d: an append fails: %v", begin+at, err)
			}
		})
		after, err := os.ReadFile(log.path)
		if err != nil {
			t.Fatal(err)
		}
		report, err := repaired(dir, repair.Options{})
		if err != nil || len(report.Lost)+len(report.Left) > 0 || report.Found != 1 {
			t.Errorf("byte %d: repair: %+v, %v", begin+at, report, err)
		}
		want := append(bytes.Clone(log.good), after[len(log.good):]...)
		if now, err := os.ReadFile(log.path); err != nil || !bytes.Equal(now, want) {
			t.Errorf("byte %d: the log is not as it was: %v", begin+at, err)
		}
		if err := os.RemoveAll(report.Copy); err != nil {
			t.Fatal(err)
		}
	}
}

// A header that is damaged in more bytes is lost. What else can be read stays so, and the repair is
// not refused for the sake of the id that the damaged bytes have.
func TestLostHeaderInTheOpenLog(t *testing.T) {
	for _, word := range []string{"seq 2", "role user", "session work"} {
		dir, log, ids := openLog(t)
		at := bytes.LastIndex(log.good, []byte(word))
		if err := log.blot(at).do(); err != nil {
			t.Fatal(err)
		}
		report, err := repaired(dir, repair.Options{})
		if err != nil {
			t.Errorf("%s: %v", word, err)
		}
		withStore(t, dir, func(s *session.Store) {
			gone := 0
			for _, id := range ids {
				if _, err := s.Objects.Get(id); err != nil {
					gone++
				}
			}
			if gone != 1 {
				t.Errorf("%s: %d objects are gone: %q", word, gone, report.Lost)
			}
		})
	}
}

// heard returns what a reader has of a session: every message, or why it is not there.
func heard(t *testing.T, s *session.Store, name string) (texts map[string]bool) {
	t.Helper()
	view, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]bool{}
	tip := view.Get(history.RefName(name, history.MainBranch)).ID
	for e, err := range s.History.Walk(tip, history.OwnLine) {
		var shown *history.Shown
		if err == nil {
			shown, err = s.History.Entry(e.ID)
		}
		if err != nil {
			t.Errorf("session %s: %v", name, err)
			break
		}
		if shown.Gone == "" {
			texts[shown.Text] = true
		}
	}
	return texts
}

// chat makes a store with three sessions, whose messages are all in the open segment of its log.
func chat(t *testing.T) (dir string, log *file, right map[string]map[string]bool) {
	t.Helper()
	e := storetest.Env(place(t), nil)
	e.Now = storetest.Clock(Later)
	s := storetest.Init(t, e)
	for n := range 8 {
		for _, name := range []string{"a", "b"} {
			storetest.Say(t, s, name, "user", fmt.Sprintf("%s says %d%s", name, n,
				strings.Repeat(" and more", n*n)))
		}
		var several []conversation.Message
		for m := range 4 {
			several = append(several, conversation.Message{Role: "model",
				Text: fmt.Sprintf("message %d of %d", m, n)})
		}
		if _, _, err := s.Conversation.Append(context.Background(), "c", "main", several,
			conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	right = map[string]map[string]bool{}
	for _, name := range []string{"a", "b", "c"} {
		right[name] = heard(t, s, name)
	}
	dir = s.Dir
	log = &file{name: "refs/log-1", path: filepath.Join(dir, "refs", "log-1"), kind: "log"}
	var err error
	if log.good, err = os.ReadFile(log.path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, log, right
}

// hole damages the bytes of a log at one place, in one of several ways.
func hole(r *rand.Rand, good []byte, begin, kind int) (bad []byte, from, to int) {
	bad = bytes.Clone(good)
	runs := []int{1, 2, 8, 64, 512}
	switch size := 512 << (3 * (kind & 1)); {
	case kind < len(runs):
		from = begin + r.IntN(len(bad)-begin-runs[kind])
		to = from + runs[kind]
		for i := from; i < to; i++ {
			bad[i] ^= byte(1 + r.IntN(255))
		}
	case kind < 7: // a block of zeros
		from = (1 + r.IntN(len(bad)/size-1)) * size
		to = from + size
		clear(bad[from:to])
	default: // bytes that are not there
		from = begin + r.IntN(len(bad)/2)
		to = from + 1 + r.IntN(600)
		bad = slices.Delete(bad, from, to)
	}
	return bad, from, to
}

// Damage of the open segment hides no more than it damages: all else is read and appended to, and
// after a repair it is there as before.
func TestHolesOfTheOpenLog(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	dir, log, right := chat(t)
	good, begin, sound := log.good, log.borders()[0], filepath.Join(place(t), "sound")
	if err := os.CopyFS(sound, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for i := range 48 {
		bad, from, to := hole(r, good, begin, i%8)
		if !mine(t, i/8) {
			continue
		}
		what := fmt.Sprintf("%d: bytes %d to %d", i, from, to)
		if err := log.becomes("a hole", bad).do(); err != nil {
			t.Fatal(err)
		}
		may := map[string]int{} // how many messages a session may miss
		for at := begin; at < len(good); {
			op, _, n, err := format.DecodeOperation(good[at:])
			if err != nil {
				t.Fatal(err)
			}
			if at < to && at+n > from {
				may[op.Session] += len(op.Objects)
			}
			at += n
		}
		before := map[string]map[string]bool{}
		withStore(t, dir, func(s *session.Store) {
			if len(faults(t, s)) == 0 {
				t.Errorf("%s: fsck finds nothing", what)
			}
			for name, all := range right {
				got := heard(t, s, name)
				for text := range got {
					if !all[text] {
						t.Errorf("%s: session %s says %q", what, name, text)
					}
				}
				if len(got)+may[name] < len(all) {
					t.Errorf("%s: of session %s %d of %d are read", what, name, len(got), len(all))
				}
				if err := goOn(s, name, "main"); err != nil {
					t.Errorf("%s: append to %s: %v", what, name, err)
				}
				before[name] = heard(t, s, name)
			}
		})
		report, err := repaired(dir, repair.Options{})
		if err != nil || len(report.Left) > 0 {
			t.Errorf("%s: repair: %v, %v", what, report.Left, err)
		}
		withStore(t, dir, func(s *session.Store) {
			for name, want := range before {
				if got := heard(t, s, name); !maps.Equal(got, want) {
					t.Errorf("%s: after the repair session %s has %d texts, and before %d", what,
						name, len(got), len(want))
				}
				if err := goOn(s, name, "main"); err != nil {
					t.Errorf("%s: append to %s after the repair: %v", what, name, err)
				}
			}
			if left := faults(t, s); len(left) > 0 {
				t.Errorf("%s: left %v", what, left)
			}
		})
		for _, done := range []string{dir, report.Copy} {
			if err := os.RemoveAll(done); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
			t.Fatal(err)
		}
	}
}

func withStore(t *testing.T, dir string, do func(*session.Store)) {
	t.Helper()
	s, err := Open(dir, nil, Later)
	if err != nil {
		t.Fatal(err)
	}
	do(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
