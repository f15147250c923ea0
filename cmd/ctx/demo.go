package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
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

// demo runs commands in a temporary directory and prints them as a shell would.
type demo struct {
	a         *app
	c         context.Context
	dir, home string
	keep      bool // the store stays, and may be shown to agents
}

// play runs the whole demonstration.
func (d *demo) play() error {
	d.tell("Make a store for a project. All that is said goes under .gemini/context.")
	if _, err := d.show(2, "init"); err != nil {
		return err
	}
	d.tell(
		"Append %d messages, one on each line. Each id is printed when its message is on the disk.",
		bytes.Count(demoConversation, []byte("\n")))
	ids, err := d.show(3, "append", "-s", "work", "--jsonl", "conversation.jsonl")
	if err != nil {
		return err
	}
	d.tell("Messages that left the window have joined clusters, one for each topic.")
	if _, err := d.show(10, "status"); err != nil {
		return err
	}
	d.tell(
		"Compaction summarizes the clusters. If there are more than ten, the oldest " +
			"become tombstones.")
	if _, err := d.show(5, "compact", "-s", "work"); err != nil {
		return err
	}
	if _, err := d.show(20, "forest"); err != nil {
		return err
	}
	if err := d.sizes(); err != nil {
		return err
	}
	if err := d.oneCluster(); err != nil {
		return err
	}
	return d.verify(strings.Fields(ids))
}

// tell prints what comes next, and result prints what came of it.
func (d *demo) tell(text string, args ...any)   { d.say("# ", fmt.Sprintf(text, args...)) }
func (d *demo) result(text string, args ...any) { d.say("  ", fmt.Sprintf(text, args...)) }

func (d *demo) say(mark, text string) {
	if d.a.json {
		d.a.document("text", text)
		return
	}
	d.a.printf("\n%s%s\n", mark, text)
}

// show prints and runs a command line, and prints the first lines of its output. It returns the
// whole output.
func (d *demo) show(lines int, args ...string) (string, error) {
	line := "ctx " + strings.Join(args, " ")
	if !d.a.json {
		d.a.printf("\n$ %s\n", line)
	}
	out, err := d.run(args...)
	if err != nil {
		return "", err
	}
	if d.a.json {
		d.a.document("command", line, "output", out)
	} else {
		d.a.printf("%s", shorten(out, lines))
	}
	return out, d.a.out.Flush()
}

// run runs a command line and prints nothing.
func (d *demo) run(args ...string) (string, error) {
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
		if d.c.Err() != nil {
			return "", d.c.Err()
		}
		return "",
			fmt.Errorf("ctx %s ended with %d: %s", strings.Join(args, " "), code,
				oneLine(said.String()))
	}
	return out.String(), nil
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
