package session

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/session/view"
)

// clock gives a second more each time it is asked, whoever asks.
func clock() func() time.Time {
	var asked atomic.Int64
	t := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return func() time.Time { return t.Add(time.Duration(asked.Add(1)) * time.Second) }
}

// env is the world of a test: a fixed key and clock, and no environment.
func env(dir string, fs *lock.FS) repo.Env {
	return repo.Env{
		WorkDir: dir, StoreDir: dir, Now: clock(), Random: bytes.NewReader(bytes.Repeat([]byte("fixed randomness"), 8)),
		Owner: lock.Owner{PID: 1, Host: "test", Command: "test"}, FS: fs,
	}
}

// tempDir is on a memory file system where there is one: what is tested here is not the disk.
func tempDir(t testing.TB) string {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "ctx-session-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// create makes a store in a new directory, with small windows so that little talk goes far.
func create(t testing.TB, settings ...string) *Store {
	t.Helper()
	return initStore(t, env(tempDir(t), nil), settings...)
}

func initStore(t testing.TB, e repo.Env, settings ...string) *Store {
	t.Helper()
	if _, _, err := repo.Init(e, e.WorkDir); err != nil {
		t.Fatal(err)
	}
	return reopen(t, e.WorkDir, nil, settings...)
}

func reopen(t testing.TB, dir string, fs *lock.FS, settings ...string) *Store {
	t.Helper()
	e := env(dir, fs)
	e.Overrides = settings
	r, err := repo.Open(e)
	if err != nil {
		t.Fatal(err)
	}
	s := New(r)
	s.Warn = func(msg string) { t.Log("warning:", msg) }
	return s
}

// small is a window that a dozen messages fill.
var small = []string{"window.graduate_at=4", "window.evict_at=6", "forest.max_cold_clusters=3"}

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

func (s *Store) mustView(t testing.TB) *refs.View {
	t.Helper()
	return must[*refs.View](t)(s.Refs.Read())
}

// say appends one message and returns its id.
func say(t testing.TB, s *Store, session, role, text string) format.ID {
	t.Helper()
	done, _, err := s.Append(context.Background(), session, MainBranch, []Message{{Role: role, Text: text}}, AppendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done[0].ID
}

// topics are things to talk about that have no words in common.
var topics = []string{
	"postgres migration schema port %d table index",
	"parser lexer token line %d nil pointer panic",
	"deploy rollback release server %d traffic canary",
	"rate limit header bucket %d requests minute",
	"flaky timeout retry runner %d shard",
}

func chatter(r *rand.Rand) string { return fmt.Sprintf(topics[r.IntN(len(topics))], r.IntN(10000)) }

// places returns, for every message that a branch has, how often it is in the tail, in a live cluster and in a tombstone.
func places(t testing.TB, s *Store) map[format.ID]int {
	t.Helper()
	st, err := s.Forest(s.mustView(t))
	if err != nil {
		t.Fatal(err)
	}
	count := map[format.ID]int{}
	for _, c := range st.Live() {
		for _, id := range must[[]format.ID](t)(st.Members(c)) {
			count[id]++
		}
	}
	evicted, err := st.Evicted()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range evicted {
		stone := must[*format.Tombstone](t)(s.Loader().Tombstone(e.Tombstone))
		if err := s.walk(stone.Node, func(id format.ID) error { count[id]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return count
}

// check holds what must always hold of a store: history is one line, and every message is in its window or in one cluster, exactly once; nothing
// else is anywhere.
func check(t testing.TB, s *Store) {
	t.Helper()
	v := s.mustView(t)
	count := places(t, s)
	for _, name := range v.Names("sessions/") {
		at := v.Get(name)
		if at.Through > at.Frontier {
			t.Fatalf("%s: through %d is past frontier %d", name, at.Through, at.Frontier)
		}
		seq := uint64(0)
		for _, shown := range must[[]*Shown](t)(s.Log(at.ID, LogOptions{})) {
			if shown.Entry.Kind != format.KindMessage {
				continue
			}
			if seq++; shown.Entry.Seq != seq {
				t.Fatalf("%s: message %v has seq %d, want %d", name, shown.ID, shown.Entry.Seq, seq)
			}
			n := count[shown.ID]
			delete(count, shown.ID)
			if want := 0; seq > at.Frontier && n != want {
				t.Fatalf("%s: message %d is after the frontier %d and %d times in the forest", name, seq, at.Frontier, n)
			}
			if want := 1; seq <= at.Frontier && n != want {
				t.Fatalf("%s: message %d is up to the frontier %d and %d times in the forest", name, seq, at.Frontier, n)
			}
		}
	}
	if len(count) > 0 {
		t.Fatalf("%d entries are in the forest and in no session", len(count))
	}
	checkEpochs(t, s)
	if v.Number%16 == 0 {
		checkRenders(t, s)
	}
}

// checkRenders holds that every branch renders its newest messages word for word, and by its clusters nothing of its session that is not of its own
// history, or that it has word for word.
func checkRenders(t testing.TB, s *Store) {
	t.Helper()
	v := s.mustView(t)
	for _, name := range v.Names("sessions/") {
		session, branch, _ := branchOfRef(name)
		in := must[view.Input](t)(s.RenderInput(v, session, branch, view.Options{}))
		stands := map[format.ID]bool{} // what the clusters may say
		tip := v.Get(name)
		if err := s.back(tip.ID, func(id format.ID, _ *format.Entry) bool { stands[id] = true; return true }); err != nil {
			t.Fatal(err)
		}
		seq := must[*format.Entry](t)(s.entry(tip.ID)).Seq
		if least := min(seq, 3*uint64(s.Config.Window.GraduateAt)/4); uint64(len(in.Tail)) < least {
			t.Fatalf("%s: %d of %d messages are word for word, want %d", name, len(in.Tail), seq, least)
		}
		for _, m := range in.Tail {
			delete(stands, m.ID)
		}
		for _, c := range append(in.Clusters, in.Evicted...) {
			for _, p := range c.Parts {
				for _, line := range p.Sentences {
					if e := must[*format.Entry](t)(s.entry(line.Entry)); e.Session == session && !stands[line.Entry] {
						t.Fatalf("%s: a cluster says %q, which is not of its history or in its tail", name, line.Text)
					}
				}
			}
		}
	}
}

// checkEpochs holds that the ref of every branch's epoch names what the branch's own line does.
func checkEpochs(t testing.TB, s *Store) {
	t.Helper()
	view := s.mustView(t)
	for _, name := range view.Names("epochs/") {
		if !view.Get("sessions/" + strings.TrimPrefix(name, "epochs/")).Exists() {
			t.Fatalf("%s has no branch", name)
		}
	}
	for _, name := range view.Names("sessions/") {
		shown := must[EpochShown](t)(s.EpochAt(view.Get(name).ID))
		if got := view.Get("epochs/" + strings.TrimPrefix(name, "sessions/")).ID; got != shown.ID {
			t.Fatalf("the epoch of %s is %v, and the branch was told %v", name, got, shown.ID)
		}
	}
}

// copyStore copies a store's directory.
func copyStore(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(tempDir(t), ".gemini", "context")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o700); err != nil {
		t.Fatal(err)
	}
	return to
}

// texts are the messages of every session.
func texts(t testing.TB, s *Store) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	view := s.mustView(t)
	for _, name := range view.Names("sessions/") {
		all[name] = []string{}
		for _, shown := range must[[]*Shown](t)(s.Log(view.Get(name).ID, LogOptions{})) {
			all[name] = append(all[name], shown.Text)
		}
	}
	return all
}
