package repo_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/lock"
)

// world is a home directory with a project in it.
type world struct {
	t       testing.TB
	home    string
	project string
	vars    map[string]string
	env     repo.Env
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root := scratch(t)
	w := &world{t: t, home: filepath.Join(root, "home"),
		project: filepath.Join(root, "home", "project"), vars: map[string]string{}}
	w.mkdir(w.project)
	w.env = repo.Env{
		WorkDir: w.project,
		Home:    w.home,
		Getenv:  func(name string) string { return w.vars[name] },
		Now:     func() time.Time { return time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC) },
		Random:  rand.NewChaCha8([32]byte{1}),
		Owner:   lock.Owner{PID: 7, Host: "here", Command: "ctx test"},
	}
	return w
}

// scratch returns a directory for one test: in memory where there is such a place, since making a
// store syncs a dozen times.
func scratch(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "ctx-repo-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func (w *world) store() string { return filepath.Join(w.project, ".gemini", "context") }

func (w *world) path(name string) string { return filepath.Join(w.store(), name) }

func (w *world) mkdir(path string) {
	w.t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) init() *repo.Repo {
	w.t.Helper()
	r, _, err := repo.Init(w.env, w.project)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) open() *repo.Repo {
	w.t.Helper()
	r, err := repo.Open(w.env)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// files returns the content of every file under dir, and "dir" for directories.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() {
			out[rel] = "dir"
			return err
		}
		b, err := os.ReadFile(path)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
