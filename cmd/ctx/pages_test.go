package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestPageExamples holds the example of a page to the one that a script runs: its first block of shell.
func TestPageExamples(t *testing.T) {
	for _, c := range []struct{ page, script, file string }{
		{"agents/adk.md", "adk_page.txtar", "p/example.sh"},
	} {
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", filepath.FromSlash(c.page)))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(strings.ReplaceAll(string(page), "\r\n", "\n"))
		archive, err := txtar.ParseFile(filepath.Join("..", "..", "testscript", c.script))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range archive.Files {
			if f.Name == c.file {
				found = true
				if m == nil || string(f.Data) != m[1] {
					t.Errorf("%s has\n%q\nthe script has\n%s", c.page, m, f.Data)
				}
			}
		}
		if !found {
			t.Errorf("%s has no %s", c.script, c.file)
		}
	}
}
