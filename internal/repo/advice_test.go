package repo_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestIgnoreAdvice(t *testing.T) {
	const line = ".gemini/context/"
	w := newWorld(t)
	r := w.init()
	for dir := w.project; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			t.Skipf("%q is a git work tree", dir)
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	if got := r.IgnoreAdvice(); got != line {
		t.Errorf("no file: got %q", got)
	}
	ignore := filepath.Join(w.project, ".geminiignore")
	w.write(ignore, "dist/\n")
	if got := r.IgnoreAdvice(); got != line {
		t.Errorf("another line: got %q", got)
	}
	w.write(ignore, "dist/\n/.gemini/context\n")
	if got := r.IgnoreAdvice(); got != "" {
		t.Errorf("line is there: got %q", got)
	}
	w.remove(ignore)
	for _, git := range []string{filepath.Join(w.project, ".git"), filepath.Join(w.home, ".git")} {
		w.write(git, "gitdir: elsewhere\n")
		if got := r.IgnoreAdvice(); got != "" {
			t.Errorf("in git: got %q", got)
		}
		w.remove(git)
	}
	moved := filepath.Join(w.home, "moved")
	if err := os.Rename(w.store(), moved); err != nil {
		t.Fatal(err)
	}
	w.env.StoreDir = moved
	if got := w.open().IgnoreAdvice(); got != "" {
		t.Errorf("store without a project: got %q", got)
	}
}
