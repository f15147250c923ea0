package command

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/repo"
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
