// Command bench measures ctx as whole processes beside git, sqlite3 and zstd in one run, and prints
// a Markdown table:
//
//	go run ./internal/bench -n 100000 -sessions DIR -lines FILE
//
// -n is the size of the generated store, -talks the number of sessions in another one. -sessions
// names a directory with transcripts of Claude Code or Codex, -lines a file of messages as JSON
// lines. A rival or a tool that is not installed is named, and its rows are left out. Begin with
// the list in run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	o := options{parts: 40}
	flag.IntVar(&o.n, "n", 100000, "`messages` of the generated store")
	flag.IntVar(&o.rounds, "rounds", 40, "`runs` of a short command, of which the median counts")
	flag.IntVar(&o.talks, "talks", 0,
		"`sessions` of ten messages in another store; 0 for no such store")
	flag.StringVar(&o.sessions, "sessions", "", "`directory` with transcripts, *.jsonl")
	flag.StringVar(&o.agent, "agent", "claude-code", "`agent` that wrote the transcripts")
	flag.StringVar(&o.lines, "lines", "", "`file` of messages as JSON lines")
	flag.StringVar(&o.ctx, "ctx", "", "`binary` to measure; built from this tree without it")
	flag.Parse()
	if err := run(o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	n, rounds, talks       int
	parts                  int // of a session that pushes cuts, as an agent's hook at each turn
	sessions, agent, lines string
	ctx                    string
}

// run measures every group of rows in a directory of its own, which it removes.
func run(o options, out *os.File) (err error) {
	dir, err := os.MkdirTemp("", "ctx-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	b := &bench{options: o, dir: dir}
	if b.ctx == "" {
		b.ctx = filepath.Join(dir, "ctx")
		if err := b.build(b.ctx, "github.com/gemini-ctx/ctx/cmd/ctx"); err != nil {
			return err
		}
	}
	for _, tool := range []string{"git", "sqlite3", "zstd", "strace"} {
		if _, err := exec.LookPath(tool); err != nil {
			b.missing = append(b.missing, tool)
		}
	}
	for _, group := range []func() error{b.start, b.empty, b.append, b.chat, b.transcripts,
		b.pushes, b.large, b.many} {
		if err := group(); err != nil {
			return err
		}
	}
	return b.print(out)
}

// print writes the table, and the tools that were not there.
func (b *bench) print(out *os.File) error {
	var text strings.Builder
	text.WriteString(
		"| what | ctx | rival | ratio | peak memory | rival's | bar |\n" +
			"|---|---|---|---|---|---|---|\n")
	for _, r := range b.rows {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s | %s |\n", r.what, r.ctx, r.rival,
			r.ratio, r.memory, r.rivalMemory, r.verdict())
	}
	if len(b.missing) > 0 {
		fmt.Fprintf(&text, "\nNot installed, and so not measured: %s.\n",
			strings.Join(b.missing, ", "))
	}
	_, err := out.WriteString(text.String())
	return err
}
