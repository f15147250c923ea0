package upkeep

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/epoch"
)

// start is when the clock of every test begins. Files are given times around it.
var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// clock gives a second more each time it is asked.
func clock(t time.Time) func() time.Time {
	return func() time.Time {
		t = t.Add(time.Second)
		return t
	}
}

func env(dir string, fsys *lock.FS, settings ...string) repo.Env {
	return repo.Env{
		WorkDir: dir, StoreDir: dir, Now: clock(start), Random: bytes.NewReader(bytes.Repeat([]byte("fixed randomness"), 8)),
		Owner: lock.Owner{PID: 1, Host: "test", Command: "test"}, FS: fsys, Overrides: settings,
	}
}

// small is a window that a dozen messages fill, and a log that is kept for a day.
var small = []string{"window.graduate_at=4", "window.evict_at=7", "forest.max_cold_clusters=2", "log.keep=1d", "gc.grace=1d"}

// tempDir is on a memory file system where there is one: what is tested here is not the disk.
func tempDir(t testing.TB) string {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "ctx-upkeep-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func create(t testing.TB) *session.Store {
	t.Helper()
	e := env(tempDir(t), nil)
	if _, _, err := repo.Init(e, e.WorkDir); err != nil {
		t.Fatal(err)
	}
	return open(t, e.WorkDir, nil)
}

func open(t testing.TB, dir string, fsys *lock.FS) *session.Store {
	t.Helper()
	r, err := repo.Open(env(dir, fsys, small...))
	if err != nil {
		t.Fatal(err)
	}
	s := session.New(r)
	t.Cleanup(func() { s.Close() })
	return s
}

func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var topics = []string{
	"postgres migration schema port %d table index",
	"parser lexer token line %d nil pointer panic",
	"deploy rollback release server %d traffic canary",
	"rate limit header bucket %d requests minute",
	"flaky timeout retry runner %d shard",
	"invoice customer payment refund %d ledger",
	"camera lens shutter exposure %d tripod",
	"kernel module driver interrupt %d firmware",
}

func chatter(r *rand.Rand) string { return fmt.Sprintf(topics[r.IntN(len(topics))], r.IntN(10000)) }

func say(t testing.TB, s *session.Store, name string, texts ...string) {
	t.Helper()
	var batch []session.Message
	for i, text := range texts {
		batch = append(batch, session.Message{Role: []string{"user", "model"}[i%2], Text: text})
	}
	if _, _, err := s.Append(context.Background(), name, session.MainBranch, batch, session.AppendOptions{NoGraduation: len(texts) > 1}); err != nil {
		t.Fatal(err)
	}
}

// live does n random things to a store's sessions.
func live(t testing.TB, s *session.Store, r *rand.Rand, n int) {
	t.Helper()
	bg := context.Background()
	for range n {
		name := []string{"talk", "late", "other"}[r.IntN(3)]
		view := must[*viewOf](t)(read(s))
		exists := view.Get(session.RefName(name, session.MainBranch)).Exists()
		switch k := r.IntN(20); {
		case (k == 0 || k == 7) && exists:
			o := session.CompactOptions{Branches: []session.BranchName{{Session: name, Branch: session.MainBranch}}}
			if k == 7 && name == "late" {
				o.Strategy = session.Flat
			}
			must[session.Compaction](t)(s.Compact(bg, o))
		case k == 1 && exists:
			target, err := s.Resolve(view, fmt.Sprintf("%s~%d", name, r.IntN(6)))
			if err == nil {
				_, _ = s.Rewind(bg, name, session.MainBranch, target, session.RewindOptions{})
			}
		case k == 2 || k == 3:
			_, _ = s.Undo(bg, name)
		case k == 4 && exists:
			must[session.Graduation](t)(s.Graduate(bg, name, session.MainBranch))
		case k == 5 && exists && r.IntN(3) == 0:
			must[int](t)(s.RemoveSession(bg, name))
		case k == 8:
			observe(t, s, name, r.IntN(4))
		case k == 6:
			var batch []string
			for range 3 + r.IntN(80) {
				batch = append(batch, chatter(r))
			}
			say(t, s, name, batch...)
		default:
			say(t, s, name, chatter(r))
		}
	}
}

// age gives every file of a store's objects a time.
func age(t testing.TB, s *session.Store, at time.Time) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(s.Dir, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// files lists the files of a directory, sorted.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// texts are the messages of every session, in one string.
func texts(t testing.TB, s *session.Store) string {
	t.Helper()
	var b strings.Builder
	view := must[*viewOf](t)(read(s))
	for _, name := range view.Names("sessions/") {
		fmt.Fprintln(&b, name, view.Get(name))
		log, err := s.Log(view.Get(name).ID, session.LogOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range log {
			fmt.Fprintln(&b, e.ID, e.Text)
		}
	}
	return b.String()
}

func clean(t testing.TB, s *session.Store) FsckReport {
	t.Helper()
	report := must[FsckReport](t)(Fsck(context.Background(), s, FsckOptions{}))
	for i, f := range report.Faults {
		if i < 10 {
			t.Error(f)
		}
	}
	if len(report.Faults) > 0 {
		t.FailNow()
	}
	return report
}

func copyStore(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(tempDir(t), ".gemini", "context")
	copyInto(t, from, to)
	return to
}

func copyInto(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o700); err != nil {
		t.Fatal(err)
	}
}

// stray puts an entry that nothing names, on top of another one.
func stray(t testing.TB, s *session.Store, text string) (top, below format.ID) {
	t.Helper()
	e := &format.Entry{Seq: 1, Session: "nobody", Kind: format.KindMessage, Role: "user", Time: start}
	make := func(text string) format.ID {
		e.Body = &format.Body{Media: format.MediaText}
		blank := bytes.TrimSuffix(must[[]byte](t)(e.Encode()), []byte("\n"))
		nonce := must[[]byte](t)(s.Nonce("nonce", blank[:bytes.LastIndexByte(blank, '\n')+1])) // as every entry has one
		body := append(nonce, text...)
		sum := format.SumBody(body, format.MediaText)
		e.Body = &sum
		raw := format.Raw{Header: must[[]byte](t)(e.Encode()), Body: body}
		if err := s.Objects.Put(raw); err != nil {
			t.Fatal(err)
		}
		return raw.ID()
	}
	below = make(text)
	e.Parents, e.Seq = []format.ID{below}, 2
	return make(text + " again"), below
}

// observe tells a session's model of a value.
func observe(t testing.TB, s *session.Store, name string, value int) {
	t.Helper()
	set := must[*epoch.Set](t)(epoch.Read(fmt.Appendf(nil, `{"key":"core/date","value":%d,"first":"It is %d.","changed":"It is %d now.","removed_text":"It is over."}`, value, value, value)))
	must[session.Observed](t)(s.Observe(context.Background(), name, session.MainBranch, set, session.ObserveOptions{}))
}
