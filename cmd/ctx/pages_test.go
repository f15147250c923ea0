package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPageExamples runs the shell examples of docs/*.md: each page's, in order, in one shell and a directory of its own, with ctx on the PATH. A command that
// fails ends it.
func TestPageExamples(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	bin := filepath.Join(t.TempDir(), "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "ctx"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```sh example\n(.*?)^```$")
	found := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var script strings.Builder
		for _, m := range block.FindAllSubmatch(text, -1) {
			script.Write(m[1])
			found++
		}
		if script.Len() == 0 {
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			home := t.TempDir()
			c := exec.Command(shell, "-eux", "-c", script.String())
			c.Dir = filepath.Join(home, "project")
			if err := os.Mkdir(c.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			c.Env = []string{"HOME=" + home, "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")}
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if found == 0 {
		t.Error("no page has an example")
	}
}
