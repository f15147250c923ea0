package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// Program is one run of a program beside ctx that people run as a command of ctx.
type Program struct {
	Env  repo.Env
	JSON bool // the reader is a program

	dirs    []string // of -C, in order
	running bool     // the command line was understood
}

// Begin gives the command of the program what all of them have: -C and -c, and errors that the
// program reports itself. work is what the command does.
func (p *Program) Begin(
	cmd *cobra.Command, work func(cmd *cobra.Command, args []string) error,
) {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetFlagErrorFunc(FlagError)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p.running = true
		for _, dir := range p.dirs {
			p.Env.WorkDir = environ.Under(p.Env.WorkDir, dir)
			if info, err := os.Stat(p.Env.WorkDir); err != nil || !info.IsDir() {
				return Usagef("cannot change to %q: not a directory", dir)
			}
		}
		return work(cmd, args)
	}
	f := cmd.Flags()
	f.StringArrayVarP(&p.dirs, "dir", "C", nil, "run as if started in `DIR`")
	f.StringArrayVarP(&p.Env.Overrides, "config", "c", nil, "set `KEY=VALUE` for this run")
}

// Run executes a command line, and then end, and returns the exit code.
func (p *Program) Run(
	c context.Context, cmd *cobra.Command, out, errs io.Writer, args []string, end func() error,
) int {
	name := "ctx " + cmd.Name()
	cmd.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	cmd.SetArgs(args)
	cmd.SetOut(out)
	cmd.SetErr(errs)
	err := cmd.ExecuteContext(c)
	if ended := end(); err == nil {
		err = ended
	}
	if err == nil {
		return Done
	}
	return FailedWith{
		Err: err, Running: p.running, JSON: p.JSON || !p.running && HasFlag(args, "--json"),
		Hint: "`" + name + " --help` says how it is used",
	}.Report(c, errs)
}

// Failed is how a run ended in an error.
type FailedWith struct {
	Err     error
	Running bool   // the command line was understood; an error before that is a usage error
	JSON    bool   // the reader is a program
	Hint    string // for a usage error without a hint of its own
	// Short names sessions in what a person reads; nil for as they are.
	Short func(text string) string
}

// Report writes the error to w, as text or as a JSON document, and returns the exit code. A run
// whose context c ended was interrupted. Nothing is written where the reader of the output has
// gone.
func (f FailedWith) Report(c context.Context, w io.Writer) int {
	err := f.Err
	switch {
	case errors.Is(err, syscall.EPIPE):
		return Failed
	case c.Err() != nil && errors.Is(err, c.Err()):
		err = context.Canceled
	}
	p := Explain(err)
	if !f.Running && p.Code == Failed {
		p.Code, p.Kind = Usage, "usage"
	}
	if p.Code == Usage && p.Hint == "" {
		p.Hint = f.Hint
	}
	if !f.JSON {
		text := p.Text()
		if f.Short != nil {
			text = f.Short(text)
		}
		fmt.Fprintln(w, text)
		return p.Code
	}
	b, _ := json.Marshal(struct { // strings and a number: cannot fail
		V     int     `json:"v"`
		Error Problem `json:"error"`
	}{1, p})
	fmt.Fprintf(w, "%s\n", b)
	return p.Code
}

// Chain starts the summarizers that the settings of a store name. It returns nil where the built-in
// summarizer is the only one. The caller closes the chain, which ends the helpers.
func Chain(
	c context.Context, s *session.Store, health *summarizer.HealthFile, now func() time.Time,
	warn func(string),
) (*summarizer.Chain, error) {
	conf := summarizer.Config{
		Context: c, Health: health, Now: now, Beside: environ.Beside(), Warn: warn,
	}
	for _, name := range s.Config.Summarize.Chain {
		helper := s.Config.Summarizers[name]
		conf.Members = append(conf.Members, summarizer.Member{
			Name: name, Command: helper.Command, Timeout: helper.Timeout,
		})
	}
	return summarizer.New(conf)
}
