package sanitize

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCorpus counts what the rules find in Go's own source, which has no secrets except those of
// its tests. With -v it shows every line that it would change. It reads a sample of the tree, or
// all of it with CTX_FAULTS=all. The limit is 2 findings per megabyte; the whole tree had 1.4. A
// review of all 152 findings found two that are no credential of a test or an example, which is
// 0.02 per megabyte.
func TestCorpus(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("SKIPPED: no go program to ask for its sources: ", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src")
	if os.Getenv("CTX_FAULTS") != "all" {
		folder = filepath.Join(folder, "go")
	}
	c := countIn(t, folder)
	if most := 2 * c.size / 1e6; c.secrets > most {
		t.Errorf("%d findings, at most %d expected", c.secrets, most)
	}
}

// TestConversations does the same with a folder of the user, CTX_CORPUS. People do not tell each
// other secrets there, so every finding should be reviewed.
func TestConversations(t *testing.T) {
	folder := os.Getenv("CTX_CORPUS")
	if folder == "" {
		t.Skip("SKIPPED: CTX_CORPUS names no folder of conversations")
	}
	countIn(t, folder)
}

// counted is what was found in a folder.
type counted struct{ files, size, touched, secrets int }

func countIn(t *testing.T, folder string) (c counted) {
	t.Helper()
	var all tally
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(b) {
			return err
		}
		c.files++
		c.size += len(b)
		before := all.total()
		out, err := text(b, &all)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if all.total() != before {
			c.touched++
			showChanges(t, strings.TrimPrefix(path, folder), b, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.Class != "control" && f.Class != "utf8" {
			c.secrets += f.Count
		}
	}
	t.Logf("%d files, %d bytes, %d touched, %d secrets, %.2f a megabyte: %v", c.files, c.size,
		c.touched, c.secrets, 1e6*float64(c.secrets)/float64(max(1, c.size)), all.findings())
	return c
}

func showChanges(t *testing.T, path string, in, out []byte) {
	was := map[string]bool{}
	for _, line := range strings.Split(string(in), "\n") {
		was[line] = true
	}
	for _, line := range bytes.Split(out, []byte("\n")) {
		if bytes.Contains(line, []byte("[REDACTED:")) && !was[string(line)] {
			t.Logf("%s: %.200s", path, bytes.TrimSpace(line))
		}
	}
}
