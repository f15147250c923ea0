package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote/git"
)

// openAt returns a client whose copy of the remote is at bare.
func openAt(t testing.TB, url, bare string) *git.Remote {
	t.Helper()
	r, err := git.Open(t.Context(), git.Config{URL: url, Bare: bare, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// wrapGit returns an environment in which a shell script stands for the program git. The script
// sees the true git as $GIT, its own arguments, the verb as $verb, and an empty folder as $AT.
func wrapGit(t *testing.T, script string) (at string, env map[string]string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: a shell script stands for git")
	}
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	dir := t.TempDir()
	at = t.TempDir()
	script = `#!/bin/sh
for verb; do
	case $verb in
	init | config | fetch | for-each-ref | cat-file | fast-import | push | fsck | repack) break ;;
	esac
done
` + script
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return at,
		map[string]string{"GIT": real, "AT": at,
			"PATH": dir + string(os.PathListSeparator) + os.Getenv("PATH")}
}
