package model

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// maxRoot is the largest number of bytes that are read of a .project_root, which holds one path.
const maxRoot = 64 << 10

// afterGemini removes the session that Gemini CLI wrote for a run in the directory work. The
// session holds the history that was sent, and no flag prevents it. afterGemini removes a directory
// of the agent only if its .project_root names work. It ignores errors, because the agent deletes
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
		entries, _ := os.ReadDir(parent) // empty if it cannot be read
		for _, e := range entries {
			dir := filepath.Join(parent, e.Name())
			root, err := durable.ReadAtMost(filepath.Join(dir, ".project_root"), maxRoot)
			if err == nil && e.IsDir() && strings.TrimSpace(string(root)) == work {
				_ = os.RemoveAll(dir)
			}
		}
	}
}
