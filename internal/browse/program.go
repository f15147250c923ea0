// Package browse is the program ctx-browse, which `ctx browse` runs: it shows a store on a
// terminal. It is a package of its own so that the scripts of cmd/ctx can run it, and docs/cli can
// have its page. It reads the store, and never writes.
//
// Begin with Run. model.go has what keys do, source.go what is read of the store, said.go what a
// message looks like, text.go how lines are made of it.
package browse

import (
	"context"
	_ "embed" // the help
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

// program is one run of ctx-browse.
type program struct {
	command.Program
	in, out *os.File
	session string
}

// Main runs ctx-browse with the arguments and the files of this process, and returns its exit code.
func Main() int {
	return Run(context.Background(), environ.Env("ctx browse"), os.Stdin, os.Stdout,
		os.Stderr, os.Args[1:])
}

// Run executes one command line in the environment env, on the terminal of in and out, and returns
// its exit code.
func Run(c context.Context, env repo.Env, in, out, errs *os.File, args []string) int {
	p := &program{Program: command.Program{Env: env}, in: in, out: out}
	return p.Run(c, p.command(), out, errs, args, func() error { return nil })
}

// helpText says what the program does.
//
//go:embed help.txt
var helpText string

// Command returns the command, for its page in docs/cli.
func Command() *cobra.Command { return (&program{}).command() }

func (p *program) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "browse [-s SESSION]",
		Short:   "Show sessions, the forest and searches on the whole terminal",
		Long:    command.Long(helpText, command.NoStore, command.Corrupt, command.NotFound),
		Example: "  ctx browse\n  ctx browse -s work",
		Args:    command.Between(0, 0),
	}
	p.Begin(cmd, func(cmd *cobra.Command, _ []string) error { return p.run(cmd.Context()) })
	cmd.Flags().StringVarP(&p.session, "session", "s", "",
		"begin with this `SESSION` (default: the list of sessions)")
	return cmd
}

// run opens the store and shows it until the user leaves. A session that is not there is an error
// before a terminal that is not there.
func (p *program) run(c context.Context) error {
	r, err := repo.Open(p.Env)
	if err != nil {
		return err
	}
	s := session.New(r)
	s.History.Warn = func(string) {} // the next command that writes says it again
	m, err := newModel(c, s, p.session, time.Local)
	if err == nil {
		err = p.terminal()
	}
	if err == nil {
		m.tick = tick
		m.plain = p.Env.Getenv("NO_COLOR") != "" || r.Config.Color.UI == repo.ColorNever
		_, err = tea.NewProgram(m, tea.WithInput(p.in), tea.WithOutput(p.out),
			tea.WithContext(c)).Run()
	}
	if errors.Is(err, tea.ErrInterrupted) {
		err = context.Canceled
	}
	if m == nil || m.job == nil { // else a job may still read; the end of the process ends it
		_ = r.Close() // nothing was written
	}
	return err
}

// terminal returns an error if there is no terminal that can show a screen.
func (p *program) terminal() error {
	why := ""
	switch {
	case !environ.IsTerminal(p.out):
		why = "standard output is none"
	case !environ.IsTerminal(p.in):
		why = "standard input is none"
	case p.Env.Getenv("TERM") == "dumb":
		why = "TERM is dumb"
	default:
		return nil
	}
	return command.WithHint(fmt.Errorf("browse: it needs a terminal: %s", why),
		"`ctx session list`, `ctx log` and `ctx forest` print the same for any reader")
}
