package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// pages returns the Markdown pages of the project by their paths with slashes, but for those that
// are made of the help.
func pages(t *testing.T) map[string]string {
	t.Helper()
	return readPages(t, append(pagesWithExamples(t), filepath.Join("..", "..", "CHANGELOG.md")))
}

func readPages(t *testing.T, list []string) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	all := map[string]string{}
	for _, file := range list {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.ToSlash(rel)] = strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	return all
}

// TestPagesAreNarrow: prose has 100 columns at most. Tables, examples, headings, and lines that
// hold one long link may have more.
func TestPagesAreNarrow(t *testing.T) {
	oneWord := regexp.MustCompile(`^\S*(\[[^\]]*\]\([^)]*\)|` + "`[^`]*`" + `)\S*$`)
	for name, page := range pages(t) {
		inBlock := false
		for line := range strings.Lines(page) {
			line = strings.TrimRight(line, "\n")
			fence := strings.HasPrefix(line, "```")
			if fence {
				inBlock = !inBlock
			}
			other := fence || inBlock || strings.HasPrefix(line, "|") ||
				strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "#")
			if !other && utf8.RuneCountInString(line) > 100 &&
				!oneWord.MatchString(strings.TrimSpace(line)) {
				t.Errorf("%s: %d columns: %s", name, utf8.RuneCountInString(line), line)
			}
		}
	}
}

// TestPageLinks: each link of a page leads to a file, and to a heading where it names one.
func TestPageLinks(t *testing.T) {
	all := pages(t)
	made, err := filepath.Glob(filepath.Join("..", "..", "docs", "cli", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(all, readPages(t, made))
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	checked := 0
	for name, page := range all {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			to := path.Join(path.Dir(name), target)
			if target == "" {
				to = name
			}
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			found := anchor == ""
			for _, h := range heading.FindAllStringSubmatch(all[to], -1) {
				found = found || anchorOf(h[1]) == anchor
			}
			if !found {
				t.Errorf("%s: no heading #%s in %s", name, anchor, to)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d links were found", checked)
	}
}

// anchorOf is the name that a heading has in links.
func anchorOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	return b.String()
}
