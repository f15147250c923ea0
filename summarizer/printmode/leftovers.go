package printmode

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/lock"
)

// maxRoot is the largest .project_root that is read, in bytes: it holds one path.
const maxRoot = 64 << 10

// afterGemini removes the session that Gemini CLI wrote of a run in the directory work: it holds the
// history that was sent, and no flag keeps the agent from writing it. A directory of the agent is
// removed only where its .project_root names work. What cannot be removed stays: the agent deletes
// old sessions itself.
func afterGemini(work string, getenv func(string) string) {
	home := getenv("GEMINI_CLI_HOME")
	if home == "" {
		home = getenv("HOME")
	}
	if home == "" {
		home = getenv("USERPROFILE")
	}
	if real, err := filepath.EvalSymlinks(work); err == nil {
		work = real
	}
	for _, kind := range []string{"tmp", "history"} {
		parent := filepath.Join(home, ".gemini", kind)
		entries, _ := os.ReadDir(parent) // none where it cannot be read
		for _, e := range entries {
			dir := filepath.Join(parent, e.Name())
			root, err := lock.ReadAtMost(filepath.Join(dir, ".project_root"), maxRoot)
			if err == nil && e.IsDir() && strings.TrimSpace(string(root)) == work {
				_ = os.RemoveAll(dir)
			}
		}
	}
}
