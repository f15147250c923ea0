package page

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/history"
)

// MostBytes is the most bytes of a page that is made to be looked at. A browser on a small machine
// has one of this size ready in a second: 16 MB, with 50,000 messages, took it more than four.
const MostBytes = 5 << 20

// FileName returns the name of the file of a branch's page. Names that no file system takes get
// another one.
func FileName(session, branch string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, session)
	if name != session || branch != history.MainBranch || len(name) > 100 ||
		strings.HasPrefix(name, ".") {
		sum := sha256.Sum256([]byte(session + "/" + branch))
		name = fmt.Sprintf("%.40s-%x", name, sum[:6])
	}
	return "s-" + name + ".html"
}

// NthName returns the name of the file of page n, from 0, beside that of the first one.
func NthName(first string, n int) string {
	if n == 0 {
		return first
	}
	ext := filepath.Ext(first)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(first, ext), n+1, ext)
}

// Program makes pages of HTML: it answers an Ask, and serves pages to a browser. It is a program of
// its own because templates would make every start of ctx slower.
const Program = "ctx-view-serve"

// Ask asks Program for the pages of a session, or for the page of the project. It is JSON on
// standard input.
type Ask struct {
	Session *Session
	Project *Project
	Most    int    // bytes of a page of a session; 0 for one page
	First   string // name of the file of the first page
}

// Answer has the pages that were asked for. Embedded reports whether the last one has the entries.
type Answer struct {
	Pages    [][]byte
	Embedded bool
}
