package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/command"
)

func between(low, high int) cobra.PositionalArgs { return command.Between(low, high) }

// either checks the arguments with the first function if a flag is given, and else with the second.
func either(flag *bool, with, without cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *flag {
			return with(cmd, args)
		}
		return without(cmd, args)
	}
}

// group adds subcommands to a command that needs one of them, unless it has work of its own.
func group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.Args = noSuchCommand
	if cmd.RunE == nil {
		cmd.RunE = needsCommand
	}
	cmd.AddCommand(subs...)
	return cmd
}

func long(text string, codes ...int) string { return command.Long(text, codes...) }

// noSuchCommand checks the arguments of a command that has only subcommands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // letters that may be wrong
	err := usagef("no such command: %q", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "ctx "))
	if !cmd.HasParent() && isShipped(args[0]) {
		return withHint(err,
			"ctx-%s is a separate program: install it beside ctx or in a directory of PATH",
			args[0])
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		for i := range near {
			near[i] = "`" + cmd.CommandPath() + " " + near[i] + "`"
		}
		return withHint(err, "did you mean %s?", strings.Join(near, " or "))
	}
	return err
}

// needsCommand runs a command that has only subcommands: it says which they are.
func needsCommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("%s needs one of %s", cmd.CommandPath(), strings.Join(names, ", "))
}
