// The command line of ctx-eval, which `ctx eval` runs, reads what is to be measured, has Run
// measure it, and prints the report. It is no package main, so that the scripts of cmd/ctx can run
// it, and docs/cli can have its page.

package eval

import (
	"bufio"
	"context"
	_ "embed" // the help
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/summarizer"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/spf13/cobra"
)

// program is one run of ctx-eval.
type program struct {
	command.Program
	out, err        io.Writer
	quiet           bool
	session, branch string
	stored          bool // a session of the store is measured, not files
	only            []string
	seed            uint64
	opened          []io.Closer
}

// Main runs ctx-eval with the arguments and the files of this process, and returns its exit code.
func Main() int {
	c, watch := environ.Interrupts("ctx")
	watch(command.Interrupted)
	return RunProgram(c, environ.Env("ctx eval"), os.Stdout, os.Stderr, os.Args[1:])
}

// Run executes one command line in the environment env and returns its exit code.
func RunProgram(c context.Context, env repo.Env, out, errs io.Writer, args []string) int {
	buffer := bufio.NewWriter(out)
	p := &program{Program: command.Program{Env: env}, out: buffer, err: errs}
	return p.Run(c, p.command(), buffer, errs, args, func() error {
		for _, o := range p.opened {
			_ = o.Close() // a store that was read, and helpers whose answers are in
		}
		if err := buffer.Flush(); err != nil {
			return fmt.Errorf("cannot write the output: %w", err)
		}
		return nil
	})
}

// helpText says what the program does.
//
//go:embed help.txt
var helpText string

// Command returns the command, for its page in docs/cli.
func Command() *cobra.Command { return (&program{}).command() }

func (p *program) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "eval [PATH… | -s SESSION]",
		Short: "Measure clusters, summaries and search on conversations",
		Long:  command.Long(helpText, command.NoStore, command.Corrupt, command.NotFound),
		Example: "  ctx eval\n  ctx eval --only clustering talks.messages.jsonl --json\n" +
			"  ctx eval -s work",
		Args: command.Between(0, -1),
	}
	p.Begin(cmd, func(cmd *cobra.Command, args []string) error {
		p.stored = cmd.Flags().Changed("session") || cmd.Flags().Changed("branch")
		return p.run(cmd.Context(), args)
	})
	f := cmd.Flags()
	f.BoolVar(&p.JSON, "json", false, "print one JSON document")
	f.BoolVarP(&p.quiet, "quiet", "q", false, "print only errors on standard error")
	f.StringVarP(&p.session, "session", "s", "", "the session (default: that of HEAD)")
	f.StringVarP(&p.branch, "branch", "b", history.MainBranch, "the branch")
	f.StringSliceVar(&p.only, "only", nil,
		"only these `PARTS`: "+strings.Join(Parts(), ", "))
	f.Uint64Var(&p.seed, "seed", 1, "the seed `N` of what is drawn")
	return cmd
}

func (p *program) run(c context.Context, args []string) error {
	if err := CheckParts(p.only); err != nil {
		return command.WithHint(command.Usagef("bad --only: %v", err), "%s are the parts",
			strings.Join(Parts(), ", "))
	}
	list, err := p.sets(args)
	if err != nil {
		return err
	}
	options := Options{
		Only: p.only, Seed: p.seed, Version: environ.Version(),
		Settings: Settings{
			UserConfig: p.Env.UserConfig, Getenv: p.Env.Getenv, Overrides: p.Env.Overrides,
		},
		Summarizer: func(s *session.Store) (summarize.Summarizer, error) {
			return p.summarizer(c, s)
		},
	}
	report, err := Run(c, list, options)
	if err != nil {
		return err
	}
	if !p.JSON {
		return report.WriteText(p.out)
	}
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	return e.Encode(report)
}

// sets returns what the command line names: files, a session of the store, or the built-in sets.
func (p *program) sets(args []string) ([]Set, error) {
	switch {
	case p.stored && len(args) > 0:
		return nil, command.Usagef("a session of the store or a PATH: not both")
	case p.stored:
		return p.storedSet()
	case len(args) == 0:
		return Own(p.seed), nil
	}
	return p.filesToSets(args)
}

// storedSet returns a session of the store as a set.
func (p *program) storedSet() ([]Set, error) {
	r, err := repo.Open(p.Env)
	if err != nil {
		return nil, err
	}
	p.opened = append(p.opened, r)
	s := session.New(r)
	s.History.Warn = p.warn
	view, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	name := p.session
	if name == "" {
		name, err = sessions.HEAD(view)
	} else if err = command.CheckName("session", name); err == nil {
		name, err = history.NamedOr(view, name)
	}
	if err == nil {
		err = command.CheckName("branch", p.branch)
	}
	if err != nil {
		return nil, err
	}
	tip, err := history.Tip(view, name, p.branch)
	if err != nil {
		return nil, err
	}
	set, err := FromStore(s, tip.ID, name)
	return []Set{set}, err
}

// summarizer returns the configured chain, or nil for the built-in summarizer.
func (p *program) summarizer(c context.Context, s *session.Store) (summarize.Summarizer, error) {
	health := &summarizer.HealthFile{Path: summarizer.HealthPath(s.Dir)}
	chain, err := command.Chain(c, s, health, p.Env.Now, p.warn)
	if chain == nil {
		return nil, err
	}
	p.opened = append(p.opened, chain)
	return chain, err
}

// warn prints a warning.
func (p *program) warn(text string) {
	fmt.Fprintf(p.err, "ctx: warning: %s\n", sanitize.Line(text))
}
