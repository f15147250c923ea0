package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShippedSummarizers holds CONTRIBUTING.md's "add a summarizer": each helper that comes with
// ctx is a program under cmd/, its name and its program are on docs/summarizers.md, and each
// program of that form is in the table.
func TestShippedSummarizers(t *testing.T) {
	root := filepath.Join("..", "..")
	b, err := os.ReadFile(filepath.Join(root, "docs", "summarizers.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	used := map[string]bool{}
	for name, s := range shipped() {
		program := s.Command[0]
		used[program] = true
		if _, err := os.Stat(filepath.Join(root, "cmd", program)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/summarizers.md does not say what `%s` is", name)
		}
		if !strings.Contains(page, "`"+program+"`") {
			t.Errorf("docs/summarizers.md does not name %s", program)
		}
	}
	programs, err := filepath.Glob(filepath.Join(root, "cmd", "ctx-summarize-*"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("no programs, error %v", err)
	}
	for _, path := range programs {
		if !used[filepath.Base(path)] {
			t.Errorf("no name in shipped() starts %s", filepath.Base(path))
		}
	}
}
