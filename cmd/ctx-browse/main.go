// Command ctx-browse shows a store on a terminal: sessions, what was said in them, the forest, and
// where a summary comes from. It only reads. It is a separate executable, so that ctx does not need
// its libraries; `ctx browse` runs it. docs/terminal.md describes it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gemini-ctx/ctx/internal/cli/clierr"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

func main() { os.Exit(run(os.Args[1:], environ.Env("ctx-browse"), os.Stdin, os.Stdout, os.Stderr)) }

const usage = `ctx-browse shows the sessions and the forest of a store of ctx on a terminal.
It reads the store, and changes nothing. Press ? for the keys.

Usage: ctx-browse [-C DIR]... [-c KEY=VALUE]... [-s SESSION]

  -C DIR        run as if started in DIR
  -c KEY=VALUE  set a setting for this run
  -s SESSION    begin with this session
  -version      print the version

It finds the store as ctx does: CTX_DIR, or the first .gemini/context upwards from the working directory.
`

// run shows the store until the user leaves, and returns the exit code.
func run(args []string, env repo.Env, in *os.File, out, errs io.Writer) int {
	flags := flag.NewFlagSet("ctx-browse", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dirs, version, name := list{}, false, ""
	flags.Var(&dirs, "C", "")
	flags.Var((*list)(&env.Overrides), "c", "")
	flags.StringVar(&name, "s", "", "")
	flags.BoolVar(&version, "version", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return clierr.Done
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("takes no argument: %.80q", flags.Arg(0))
	}
	for _, dir := range dirs {
		env.WorkDir = environ.Under(env.WorkDir, dir)
		if info, bad := os.Stat(env.WorkDir); err == nil && (bad != nil || !info.IsDir()) {
			err = fmt.Errorf("cannot change to %.200q: not a directory", dir)
		}
	}
	if err != nil {
		fmt.Fprintf(errs, "ctx-browse: %v\nhint: `ctx-browse -help` says how it is used\n", err)
		return clierr.Usage
	}
	if version {
		fmt.Fprintf(out, "ctx-browse version %s\n", environ.Version())
		return clierr.Done
	}
	if err := browse(env, name, in, out); err != nil {
		p := clierr.Explain(err)
		fmt.Fprintln(errs, p.Text())
		return p.Code
	}
	return clierr.Done
}

// browse opens the store and runs the program on a terminal.
func browse(env repo.Env, name string, in io.Reader, out io.Writer) error {
	r, err := repo.Open(env)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // nothing was written
	s := session.New(r)
	s.History.Warn = func(string) {} // the next command that writes says it again
	m, err := newModel(s, name, time.Local)
	if err != nil {
		return err
	}
	m.plain = os.Getenv("NO_COLOR") != ""
	_, err = tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrInterrupted) {
		err = nil
	}
	return err
}

// list collects the values of a repeated flag.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}
