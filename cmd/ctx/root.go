package main

import (
	"github.com/spf13/cobra"
)

// newRoot returns the command tree, or as much of it as the command line args needs; all of it for no args.
func newRoot(a *app, args []string) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:                   "ctx",
		DisableFlagsInUseLine: true,
		Short:                 "Keep what an AI agent and its user said, and a small context of it",
		Long: `ctx keeps what an AI agent and its user said, in the project it was said in, for good. It is to conversations what
git's plumbing is to files. A long history renders into a small context, and every summary in it expands to the exact
messages it stands for.

` + "`ctx NAME`" + ` for a NAME that is no command here runs the program ctx-NAME, where one is beside ctx or in a directory of PATH; of
the flags below, only -C may stand before such a name. ` + "`ctx mcp`" + ` runs ctx-mcp, which serves a store to agents.`,
		Example: `  ctx init
  ctx append -s work --role user -m 'the tests fail on Windows'
  ctx render -s work --budget 4000`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				return printVersion(a)
			}
			cmd.SetOut(a.stderr)
			if err := cmd.Help(); err != nil {
				return err
			}
			return &exitError{exitUsage}
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.prepare(cmd) },
	}
	root.SetOut(a.out)
	root.SetErr(a.stderr)
	root.SetIn(a.stdin)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	addGlobalFlags(a, root)
	root.AddGroup(groups()...)
	root.SetHelpCommand(newHelpCmd(a))
	addCommands(a, root, args)
	markRunning(a, root)
	return root
}

func addGlobalFlags(a *app, root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringArrayVarP(&a.dirs, "dir", "C", nil, "run as if started in `DIR`")
	f.StringArrayVarP(&a.overrides, "config", "c", nil, "set `KEY=VALUE` for this run")
	f.BoolVar(&a.json, "json", false, "print JSON: one document, or a line for each item of a list")
	f.BoolVarP(&a.nul, "null", "z", false, "end each item of a list with a zero byte instead of a newline")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "say nothing on standard error but errors")
}

// markRunning has every command note that its line was understood: errors before that are the caller's.
func markRunning(a *app, cmd *cobra.Command) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.running = true
			return work(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		markRunning(a, sub)
	}
}
