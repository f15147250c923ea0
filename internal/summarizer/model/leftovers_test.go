package model

import (
	"os"
	"path/filepath"
	"testing"
)

// Only those directories of Gemini CLI are removed that were made for the run.
func TestAfterGemini(t *testing.T) {
	for _, name := range []string{"HOME", "GEMINI_CLI_HOME", "USERPROFILE"} {
		home, work := t.TempDir(), t.TempDir()
		real, err := filepath.EvalSymlinks(work)
		if err != nil {
			t.Fatal(err)
		}
		dirs := map[string]string{ // with the contents of their .project_root
			"tmp/work": real, "history/work": real + "\n", "bin/work": real,
			"tmp/other": filepath.Dir(real), "tmp/empty": "",
		}
		for dir, root := range dirs {
			dir = filepath.Join(home, ".gemini", filepath.FromSlash(dir))
			if err := os.MkdirAll(filepath.Join(dir, "chats"), 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, ".project_root")
			if err := os.WriteFile(file, []byte(root), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		afterGemini(work, func(asked string) string {
			return map[string]string{name: home}[asked]
		})
		for dir := range dirs {
			_, err := os.Stat(filepath.Join(home, ".gemini", filepath.FromSlash(dir)))
			if gone := dir == "tmp/work" || dir == "history/work"; (err == nil) == gone {
				t.Errorf("%s: %s: %v", name, dir, err)
			}
		}
	}
}
