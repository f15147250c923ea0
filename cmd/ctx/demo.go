package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
)

//go:embed demo/conversation.jsonl
var demoConversation []byte

func newDemoCmd(a *app) *cobra.Command {
	var keep bool
	cmd := a.newCmd("demo", func([]string) error { return runDemo(a, keep) })
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the directory")
	return cmd
}

func runDemo(a *app, keep bool) (err error) {
	a.watchInterrupts()
	if a.keepWriting != nil {
		a.keepWriting() // so that the directory is removed where nobody reads on
	}
	dir, err := os.MkdirTemp("", "ctx-demo-")
	if err != nil {
		return err
	}
	d := &demo{a: a, c: a.c, dir: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"),
		keep: keep}
	defer func() {
		if keep {
			d.err = nil
			d.say("", "The store is kept in "+oneLine(dir))
		} else if gone := os.RemoveAll(dir); err == nil {
			err = gone
		}
	}()
	for _, dir := range []string{d.dir, d.home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(d.dir, "conversation.jsonl"), demoConversation,
		0o600); err != nil {
		return err
	}
	return d.play()
}

// demo runs commands in a temporary directory and prints them as a shell would. After an error it
// does nothing more.
type demo struct {
	a         *app
	c         context.Context
	dir, home string
	keep      bool // the store stays, and may be shown to agents
	err       error
}

// play runs the whole demonstration.
func (d *demo) play() error {
	d.tell("Make a store for a project. All that is said goes under .gemini/context.")
	d.show(2, "init")
	d.tell(
		"Append %d messages, one on each line. Each id is printed when its message is on the disk.",
		bytes.Count(demoConversation, []byte("\n")))
	ids := d.show(3, "append", "-s", "work", "--jsonl", "conversation.jsonl")
	d.tell("Messages that left the window have joined clusters, one for each topic.")
	d.show(10, "status")
	d.tell("Compaction summarizes the clusters. If there are more than ten, the oldest " +
		"become tombstones.")
	d.show(5, "compact", "-s", "work")
	d.show(20, "forest")
	d.sizes()
	if list := d.clusters(); len(list) > 0 {
		d.tell("Every cluster expands to the exact messages behind its summary.")
		d.show(16, "expand", slices.MinFunc(list, func(a, b document.Cluster) int {
			return cmp.Compare(a.Members, b.Members)
		}).ID[:shortLen])
	}
	d.verify(strings.Fields(ids))
	return d.err
}

// tell prints what comes next, and result prints what came of it.
func (d *demo) tell(text string, args ...any)   { d.say("# ", fmt.Sprintf(text, args...)) }
func (d *demo) result(text string, args ...any) { d.say("  ", fmt.Sprintf(text, args...)) }

func (d *demo) say(mark, text string) {
	switch {
	case d.err != nil:
	case d.a.json:
		d.a.document("text", text)
	default:
		d.a.printf("\n%s%s\n", mark, text)
	}
}

// show prints and runs a command line, and prints the first lines of its output. It returns the
// whole output.
func (d *demo) show(lines int, args ...string) string {
	line := "ctx " + strings.Join(args, " ")
	if !d.a.json && d.err == nil {
		d.a.printf("\n$ %s\n", line)
	}
	out := d.run(args...)
	switch {
	case d.err != nil:
		return ""
	case d.a.json:
		d.a.document("command", line, "output", out)
	default:
		d.a.printf("%s", shorten(out, lines))
	}
	d.err = d.a.out.Flush()
	return out
}

// run runs a command line and prints nothing.
func (d *demo) run(args ...string) string {
	if d.err != nil {
		return ""
	}
	var out, said bytes.Buffer
	w := world{
		stdin: strings.NewReader(""), stdout: &out, stderr: &said, dir: d.dir, home: d.home,
		userData: filepath.Join(d.home, "data"), host: d.a.host, pid: d.a.pid,
		getenv: func(string) string { return "" }, now: d.a.now, random: d.a.random,
	}
	if d.keep {
		w.userData = d.a.userData
	}
	if code := run(d.c, w, args); code != exitDone {
		if d.err = d.c.Err(); d.err == nil {
			d.err = fmt.Errorf("ctx %s ended with %d: %s", strings.Join(args, " "), code,
				oneLine(said.String()))
		}
	}
	return out.String()
}

// shownWidth is how many characters of a line the demonstration prints.
const shownWidth = 118

// shorten returns the first lines of a text, each cut to shownWidth.
func shorten(text string, lines int) string {
	var b strings.Builder
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range all {
		if i == lines {
			fmt.Fprintf(&b, "  … %s more\n", plural(len(all)-lines, "line", "lines"))
			break
		}
		if r := []rune(line); len(r) > shownWidth {
			line = string(r[:shownWidth]) + "…"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
