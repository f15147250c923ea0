package bench

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asked is what the command line asks for; nothing is measured without -table.
var (
	asked   = options{parts: 40}
	isAsked bool
)

func TestMain(m *testing.M) {
	flag.BoolVar(&isAsked, "table", false, "measure, and print the table")
	flag.IntVar(&asked.n, "n", 100000, "`messages` of the generated store")
	flag.IntVar(&asked.rounds, "rounds", 40, "`runs` of a short command, of which the median counts")
	flag.IntVar(&asked.talks, "talks", 0,
		"`sessions` of ten messages in another store; 0 for no such store")
	flag.StringVar(&asked.sessions, "sessions", "", "`directory` with transcripts, *.jsonl")
	flag.StringVar(&asked.agent, "agent", "claude-code", "`agent` that wrote the transcripts")
	flag.StringVar(&asked.lines, "lines", "", "`file` of messages as JSON lines")
	flag.StringVar(&asked.ctx, "ctx", "", "`binary` to measure; built from this tree without it")
	flag.Parse()
	os.Exit(m.Run())
}

// TestTable measures what was asked for, and prints the table.
func TestTable(t *testing.T) {
	if !isAsked {
		t.Skip("NOT MEASURED: go test ./internal/bench -run TestTable -timeout 2h -args -table")
	}
	if err := run(asked, os.Stdout); err != nil {
		t.Fatal(err)
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
