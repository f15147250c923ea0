package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The shell helper on the page is the one that a script runs.
func TestShellHelper(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "summarizers.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(
		strings.ReplaceAll(string(page), "\r\n", "\n"))
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "testscript", "avail_helpers.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "bin/ctx-summarize-shell" {
			if m == nil || string(f.Data) != m[1] {
				t.Errorf("the page has\n%q\nthe script has\n%s", m, f.Data)
			}
			return
		}
	}
	t.Error("the script has no shell helper")
}
