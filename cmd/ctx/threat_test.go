package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatModel: each row of the table in docs/threat-model.md names tests, and they are there.
func TestThreatModel(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "| what is promised | where it is tested |\n|---|---|\n")
	if !ok {
		t.Fatal("no table")
	}
	named, rows := regexp.MustCompile("`([^`]+)`"), 0
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "|\n"), " | ")
		if len(cells) != 2 {
			t.Errorf("not a row of two cells: %q", row)
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(cells[1], -1)
		if len(tests) == 0 {
			t.Errorf("no test: %s", cells[0])
		}
		for _, m := range tests {
			if !testIsThere(t, root, m[1]) {
				t.Errorf("%q: no test %s", strings.TrimSpace(cells[0]), m[1])
			}
		}
	}
	if rows < 30 {
		t.Errorf("only %d rows", rows)
	}
}

// testIsThere looks for a script, or for package.TestName among the tests of a package's folder.
func testIsThere(t *testing.T, root, name string) bool {
	t.Helper()
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join(root, "testscript", name))
		return err == nil
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return false
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name[:dot]), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "\nfunc "+name[dot+1:]+"(") {
			return true
		}
	}
	return false
}
