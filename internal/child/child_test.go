package child

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program of the working directory is not run, even if PATH includes that directory.
func TestNotFromHere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"here", "here.exe"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", ".")
	if path, err := Find("here", ""); err == nil {
		t.Errorf("found %q", path)
	}
}

func TestBeside(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		for _, name := range []string{"ctx-x", "y"} {
			for _, suffix := range []string{"", ".exe"} {
				if err := os.WriteFile(filepath.Join(d, name+suffix), nil, 0o700); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Setenv("PATH", other)
	for name, want := range map[string]string{"ctx-x": dir, "y": other} {
		if path, err := Find(name, dir); err != nil || filepath.Dir(path) != want {
			t.Errorf("%s: got %q, %v", name, path, err)
		}
	}
}

func TestOneLine(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "a\n\tb": "a b", "\x1b[31mred": "red",
		strings.Repeat("é", 30): strings.Repeat("é", 10) + "…", "\xff": "\ufffd",
	} {
		if got := OneLine(s, 20); got != want {
			t.Errorf("%q: got %q", s, got)
		}
	}
}

func TestTail(t *testing.T) {
	var kept Tail
	for range 3 {
		_, _ = kept.Write([]byte(strings.Repeat("x", maxTail) + "\nlast\n"))
	}
	if len(kept.kept) != maxTail || kept.Said() != ": last" {
		t.Errorf("%d bytes, %q", len(kept.kept), kept.Said())
	}
}
