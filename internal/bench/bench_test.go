package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A small run measures every group and leaves nothing behind.
func TestRun(t *testing.T) {
	top := t.TempDir()
	t.Setenv("TMPDIR", top)
	sessions := filepath.Join("..", "agent", "claudecode", "testdata")
	lines := filepath.Join(top, "lines")
	if err := os.WriteFile(lines, []byte(`{"role":"user","text":"one"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(top, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := run(options{n: 600, rounds: 1, talks: 3, parts: 4, sessions: sessions,
		agent: "claude-code", lines: lines}, out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"start (", "start, Go hello with", "new store",
		"set of messages after gc", "to a folder, bytes", "sync with a git repository, nothing new",
		"the same import again", "first search", "compact of 600", "gc, `git gc", "fsck",
		"log -n 20, `git log", "expand", "rewind @~1, undo of 600",
		"session list -n 20 of 3 sessions", "the second append after the cache was lost, of 600",
		"the first push to a folder without the cache, of 3 sessions", "at most 1.25: "} {
		if !strings.Contains(string(text), row) {
			t.Errorf("no row %q in:\n%s", row, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(top, "ctx-bench-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
