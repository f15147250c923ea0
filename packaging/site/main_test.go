package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every page becomes one of the site, and every link between pages leads somewhere.
func TestSite(t *testing.T) {
	out := t.TempDir()
	pages, err := write(filepath.Join("..", ".."), out)
	if err != nil {
		t.Fatal(err)
	}
	if pages < 100 {
		t.Errorf("%d pages", pages)
	}
	b, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<img src="docs/terminal.svg"`, `srcset="docs/page-dark.png"`,
		`<img src="docs/page-light.png"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("index.html has no %s", want)
		}
	}
	b, err = os.ReadFile(filepath.Join(out, "docs", "format", "remote.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<link rel="stylesheet" href="../../style.css">`,
		`<a href="pack.html">pack</a>`, `href="../../docs/remotes.html"`, `<table>`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("remote.html has no %s", want)
		}
	}
}
