package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/command"
)

// newRoot returns the command tree. It has only the command that args need, or all commands without
// args.
func newRoot(a *app, args []string) *cobra.Command {
	var showVersion bool
	a.completing = strings.HasPrefix(commandName(args), cobra.ShellCompRequestCmd)
	root := &cobra.Command{
		Use:                   "ctx",
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		SilenceUsage:          true,
		Args:                  noSuchCommand,

		ValidArgsFunction: a.completePrograms,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				return printVersion(a)
			}
			if err := cmd.Help(); err != nil {
				return err
			}
			return &exitError{exitUsage}
		},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := nothingEmpty(cmd, args); err != nil {
				return err
			}
			return a.prepare(cmd)
		},
	}
	root.SetOut(a.out)
	root.SetErr(a.stderr)
	root.SetIn(a.stdin)
	root.SetFlagErrorFunc(command.FlagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		a.usePager(cmd.Root(), "help")
		describe(cmd)
		var text strings.Builder
		if !cmd.HasParent() && !a.allHelp {
			a.printFront(&text, cmd)
		} else {
			command.PrintHelp(&text, cmd,
				func(title string) string { return a.paint(styleTitle, title) })
		}
		_, _ = cmd.OutOrStdout().Write([]byte(a.fitted(text.String())))
	})
	root.CompletionOptions.DisableDefaultCmd = true
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	addGlobalFlags(a, root)
	a.completeFlag(root, "config", a.completeOverrides())
	root.AddGroup(groups()...)
	addCommands(a, root, args)
	markRunning(a, root)
	if a.completing {
		describe(root)
	}
	return root
}

func addGlobalFlags(a *app, root *cobra.Command) {
	f := root.PersistentFlags()
	f.SortFlags = false
	f.StringArrayVarP(&a.dirs, "dir", "C", nil, "run as if started in `DIR`")
	f.StringArrayVarP(&a.overrides, "config", "c", nil, "set `KEY=VALUE` for this run")
	f.BoolVar(&a.json, "json", false,
		"print JSON: one document, or one line for each item of a list")
	f.BoolVarP(&a.nul, "null", "z", false,
		"end each item of a list with a zero byte instead of a newline")
	f.BoolVar(&a.noPager, "no-pager", false, "print to the terminal, without a pager")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print only errors on standard error")
}

// markRunning makes every command record that its line was parsed. Earlier errors are usage errors.
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
