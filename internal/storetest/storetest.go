// Package storetest makes small stores for tests, and checks what must hold of every store. Tests
// alone import it. Begin with Create, Say and Check.
package storetest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Start is the time at which the clock of every test begins.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// Small are settings of a window that a dozen messages fill.
var Small = []string{"window.graduate_at=4", "window.evict_at=6", "forest.max_cold_clusters=3"}

// Clock returns a clock that begins at t and advances by a second at each reading. Goroutines may
// share it.
func Clock(t time.Time) func() time.Time {
	var readings atomic.Int64
	return func() time.Time { return t.Add(time.Duration(readings.Add(1)) * time.Second) }
}

// Env returns the environment of a store in dir, in which nothing depends on the machine: the clock
// and the randomness are fixed, and no variable is set. The settings override those of the store.
func Env(dir string, fsys *durable.FS, settings ...string) repo.Env {
	return repo.Env{
		WorkDir: dir, StoreDir: dir, Now: Clock(Start),
		Random: bytes.NewReader(bytes.Repeat([]byte("fixed randomness"), 8)),
		Owner:  lock.Owner{PID: 1, Host: "test", Command: "test"}, FS: fsys, Overrides: settings,
	}
}

// Create makes a store in a new directory.
func Create(t testing.TB, settings ...string) *session.Store {
	t.Helper()
	return Init(t, Env(durabletest.TempDir(t), nil), settings...)
}

// Init makes a store in the working directory of an environment.
func Init(t testing.TB, e repo.Env, settings ...string) *session.Store {
	t.Helper()
	if _, _, err := repo.Init(e, e.WorkDir); err != nil {
		t.Fatal(err)
	}
	return Reopen(t, e.WorkDir, nil, settings...)
}

// Reopen opens the store in dir like a new process.
func Reopen(t testing.TB, dir string, fsys *durable.FS, settings ...string) *session.Store {
	t.Helper()
	r, err := repo.Open(Env(dir, fsys, settings...))
	if err != nil {
		t.Fatal(err)
	}
	s := session.New(r)
	s.History.Warn = func(msg string) { t.Log("warning:", msg) }
	return s
}

// CopyStore copies the directory of a store and returns the copy.
func CopyStore(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(durabletest.TempDir(t), ".gemini", "context")
	CopyInto(t, from, to)
	return to
}

// CopyInto copies the directory of a store to the directory to, which does not exist yet.
func CopyInto(t testing.TB, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(to, 0o700); err != nil {
		t.Fatal(err)
	}
}

// Spread moves the objects that the log carries into packs of one object each, for a test that
// damages or removes single objects.
func Spread(t testing.TB, s *session.Store) {
	t.Helper()
	if err := SpreadOf(context.Background(), s.Repo); err != nil {
		t.Fatal(err)
	}
}

// Alone returns the packs that have one object, by this object.
func Alone(t testing.TB, s *session.Store) map[format.ID]format.ID {
	t.Helper()
	packs := map[format.ID]format.ID{}
	for _, pack := range Must[[]format.ID](t)(s.Objects.PackNames(objects.IndexExt)) {
		if c := Must[objects.PackContents](t)(s.Objects.PackContents(pack)); len(c.IDs) == 1 {
			packs[c.IDs[0]] = pack
		}
	}
	return packs
}

// Lose removes those of some objects that Spread has moved, and returns how many there were: at
// least one.
func Lose(t testing.TB, s *session.Store, ids ...format.ID) (n int) {
	t.Helper()
	alone := Alone(t, s)
	for _, id := range ids {
		pack, ok := alone[id]
		if !ok {
			continue
		}
		n++
		for _, path := range []string{s.Objects.IndexPath(pack), s.Objects.PackPath(pack)} {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n == 0 {
		t.Fatalf("none of %v is in a pack of its own", ids)
	}
	return n
}

// Strip takes away the body of an object that Spread has moved, and leaves its header. A record in
// absent/ says why.
func Strip(t testing.TB, s *session.Store, id format.ID) {
	t.Helper()
	header := Must[[]byte](t)(s.Objects.Header(id))
	Lose(t, s, id)
	if err := s.Objects.Put(format.Raw{Header: header}); err != nil {
		t.Fatal(err)
	}
}

// Must returns a function that takes a result and its error, and fails the test if there is one:
// Must[int](t)(f()).
func Must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// View reads the newest state of the refs.
func View(t testing.TB, s *session.Store) *refs.View {
	t.Helper()
	return Must[*refs.View](t)(s.Refs.Read())
}
