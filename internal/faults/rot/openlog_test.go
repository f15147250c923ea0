package rot

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
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
