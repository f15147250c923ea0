package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdPage is `page NAME`. It runs the blocks of docs/NAME.md that are marked sh, in order: each
// starts in the directory in which the one before it ended. A block marked text must be what the
// block before it printed.
func cmdPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: page NAME")
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", args[0]+".md"))
	ts.Check(err)
	ran, compared := 0, 0
	cwd := ts.MkAbs(".page-cwd")
	ts.Check(os.WriteFile(cwd, []byte(ts.MkAbs(".")+"\n"), 0o600))
	for _, block := range blocks(string(b)) {
		switch {
		case block.kind == "sh":
			if err := ts.Exec("sh", "-eu", "-c", `cd "$(cat "$0")"`+"\n"+block.text+`pwd > "$0"`,
				cwd); err != nil {
				ts.Fatalf("%v: %s", err, block.text)
			}
			ran++
		case block.kind == "text" && ran > 0:
			if got := ts.ReadFile("stdout"); got != block.text {
				ts.Fatalf("docs/%s.md says\n%s\nand it is\n%s", args[0], block.text, got)
			}
			compared++
		}
	}
	if ran == 0 || compared == 0 {
		ts.Fatalf("docs/%s.md has %d examples and %d answers", args[0], ran, compared)
	}
}

type block struct{ kind, text string }

// blocks returns the fenced blocks of a page.
func blocks(page string) (list []block) {
	in := false
	for line := range strings.Lines(page) {
		kind, fence := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "```")
		switch {
		case fence && in:
			in = false
		case fence:
			in = true
			list = append(list, block{kind: kind})
		case in:
			list[len(list)-1].text += strings.ReplaceAll(line, "\r\n", "\n")
		}
	}
	return list
}
