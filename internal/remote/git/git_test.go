package git_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/git"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
)

func now() time.Time { return time.Date(2026, 11, 21, 0, 42, 9, 0, time.UTC) }

// repository makes a bare repository, or skips where there is no git.
func repository(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	path := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func open(t testing.TB, url string) *git.Remote {
	t.Helper()
	r, err := git.Open(t.Context(), git.Config{URL: url, Bare: filepath.Join(t.TempDir(), "copy.git"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConformance(t *testing.T) {
	t.Parallel()
	path := repository(t)
	remotetest.Check(t, func(t *testing.T) remote.Remote { return open(t, path) })
}
