package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// otherWord returns which command does here what people try who know other programs; "" where
// nothing is known.
func otherWord(name string) string {
	switch name {
	case "add":
		return "`ctx append` adds a message, and `ctx import --all` what agents have"
	case "cat":
		return "`ctx expand ID` prints a message or the messages of a cluster"
	case "backup", "restore":
		return "`ctx bundle FILE` copies the store into a file, `ctx bundle --restore FILE` brings it back"
	case "checkout", "switch", "use":
		return "`ctx session use SESSION` makes a session the current one"
	case "commit":
		return "every change is kept at once: `ctx op log` lists them"
	case "config unset":
		return "`ctx config list --show-origin` names the file that a setting is in"
	case "context":
		return "`ctx render` prints the context of a session, `ctx brief` the facts of its work"
	case "cost", "tokens", "usage":
		return "`ctx stats --cost` counts what calls of models took"
	case "delete", "rm":
		return "`ctx session rm SESSION` removes a session, `ctx forget ID` erases messages"
	case "fetch":
		return "`ctx pull` takes what others share"
	case "find":
		return "`ctx search WORDS` finds messages"
	case "history":
		return "`ctx log` prints messages, and `ctx op log` what was done"
	case "ls", "sessions":
		return "`ctx list` lists the sessions"
	case "merge":
		return "`ctx branch join` joins branches of a session"
	case "new":
		return "`ctx append -s NAME` begins a session"
	case "op undo", "revert":
		return "`ctx undo` takes back the last change"
	case "op restore":
		return "`ctx undo` takes back the last change, and `ctx rewind` goes back to a message"
	case "open":
		return "`ctx view --open` shows a session as a page, and `ctx browse` on the terminal"
	case "reset":
		return "`ctx rewind REV` goes back to a message, and `ctx undo` takes back a change"
	case "session delete", "session remove":
		return "`ctx session rm SESSION` removes a session"
	case "pin", "rename", "tag":
		return "`ctx session " + name + " SESSION` does that"
	case "remote remove", "remote delete":
		return "`ctx remote rm NAME` removes a remote"
	case "serve", "web":
		return "`ctx view --serve` serves a session to a browser"
	case "summarize", "summary":
		return "`ctx compact --all` summarizes what is old, `ctx brief` prints the facts of a session"
	case "topics":
		return "`ctx forest` lists the clusters"
	}
	return ""
}

// withCount writes a count, as in `ctx log -5`, as the flag -n of a command that has one.
func withCount(root *cobra.Command, args []string) []string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		digits, isFlag := strings.CutPrefix(arg, "-")
		if !isFlag || digits == "" || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		cmd, _, err := root.Find(args)
		if err != nil || cmd.Flags().ShorthandLookup("n") == nil || i > 0 && wants(cmd, args[i-1]) {
			continue
		}
		args = slices.Clone(args)
		args[i] = "-n" + digits
	}
	return args
}

// wants reports whether an argument is a flag whose value is the next argument.
func wants(cmd *cobra.Command, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	if name == arg || strings.Contains(name, "=") {
		return false
	}
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
		f := flags.Lookup(name)
		if f == nil && len(name) == 1 {
			f = flags.ShorthandLookup(name)
		}
		if f != nil {
			return f.NoOptDefVal == ""
		}
	}
	return false
}

// noSuchCommand checks the arguments of a command that has only subcommands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // letters that may be wrong
	name := strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "ctx ")
	err := usagef("no such command: %q", name)
	if !cmd.HasParent() && isShipped(args[0]) {
		return notInstalled(err, args[0])
	}
	if does := otherWord(name); does != "" {
		return withHint(err, "%s", does)
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		for i := range near {
			near[i] = "`" + cmd.CommandPath() + " " + near[i] + "`"
		}
		return withHint(err, "did you mean %s?", strings.Join(near, " or "))
	}
	return err
}

// notInstalled adds to an error that ctx-NAME, which comes with ctx, is not there.
func notInstalled(err error, name string) error {
	return withHint(err,
		"ctx-%s is a separate program: install it beside ctx or in a directory of PATH", name)
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
