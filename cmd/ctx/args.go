package main

import (
	_ "embed" // the words
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// newCmd returns a command that does run. Its usage line says how many arguments it takes, see
// argsOf, and how a shell completes the first one.
func (a *app) newCmd(use string, run runE) *cobra.Command {
	cmd := &cobra.Command{Use: use, Args: argsOf(use)}
	if run != nil {
		cmd.RunE = func(_ *cobra.Command, args []string) error { return run(args) }
	}
	if list := argumentsIn(use); len(list) > 0 {
		words := strings.FieldsFunc(list[0], func(r rune) bool { return r < 'A' || r > 'Z' })
		has := func(name string) bool { return slices.Contains(words, name) }
		switch {
		case has("REV"), has("ID"), has("ENTRY"):
			cmd.ValidArgsFunction = a.completeRevs()
		case has("SESSION"):
			cmd.ValidArgsFunction = a.completeSessions()
		}
	}
	return cmd
}

// argsOf checks the number of arguments by a usage line: X stands for one, [X] for one that may be
// missing, and X... for one or more. A line of another form says nothing of use.
func argsOf(use string) cobra.PositionalArgs {
	low, high := 0, 0
	for _, word := range argumentsIn(use) {
		name, many := strings.CutSuffix(word, "...")
		if !strings.HasPrefix(name, "[") || !strings.HasSuffix(name, "]") {
			low++
		}
		if high++; many || strings.HasSuffix(name, "...]") {
			return between(low, -1)
		}
	}
	return between(low, high)
}

// argumentsIn returns the arguments in a usage line, without flags.
func argumentsIn(use string) (list []string) {
	open, word, flag := 0, "", false
	for part := range strings.FieldsSeq(use) {
		open += strings.Count(part, "[") - strings.Count(part, "]")
		if word += part; open > 0 {
			word += " "
			continue
		}
		if !flag && word != "|" && !strings.HasPrefix(strings.TrimLeft(word, "["), "-") {
			list = append(list, word)
		}
		word, flag = "", strings.HasPrefix(word, "-") // whose value is next
	}
	return list[1:] // behind the name
}

func between(low, high int) cobra.PositionalArgs { return command.Between(low, high) }

// nothingEmpty refuses an empty argument, an empty session or branch, and a limit or budget of
// nothing: a script has a variable that is not set, and HEAD is not what it means. A title, a value
// and a text may be empty.
func nothingEmpty(cmd *cobra.Command, args []string) error {
	says := func(names ...string) bool { return slices.Contains(names, cmd.Name()) }
	for i, arg := range args {
		if arg == "" && (i == 0 || !says("rename", "set")) &&
			!says("note", "search", "grep", "prompt", "rev-parse", cobra.ShellCompRequestCmd,
				cobra.ShellCompNoDescRequestCmd) {
			return withHint(usagef("argument %d is empty", i+1), "is a variable not set?")
		}
	}
	for _, name := range [...]string{"session", "branch", "limit", "budget"} {
		f := cmd.Flag(name)
		if f == nil || !f.Changed {
			continue
		}
		switch value := f.Value.String(); {
		case value == "":
			return withHint(usagef("bad %s name: \"\": name is empty", name), "is a variable not set?")
		case name == "branch" && checkName(name, value) != nil:
			return checkName(name, value)
		case f.Value.Type() == "int" && (value == "0" || value[0] == '-'):
			return usagef("bad --%s: %s: 1 is the least", name, value)
		}
	}
	return nil
}

// either checks the arguments with the first function if a flag is given, and else with the second.
func either(flag *bool, with, without cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *flag {
			return with(cmd, args)
		}
		return without(cmd, args)
	}
}

// groupOf makes a command that has only subcommands.
func groupOf(use string, subs ...func(*app) *cobra.Command) func(*app) *cobra.Command {
	return func(a *app) *cobra.Command {
		cmd := group(a.newCmd(use, nil))
		for _, sub := range subs {
			cmd.AddCommand(sub(a))
		}
		return cmd
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

// otherWords says what does here what people try who know other programs.
//
//go:embed otherwords.txt
var otherWords string

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

// withDashes writes -- before what begins with three dashes, which is no flag: a line of a
// program's output, as `--- FAIL: TestX`.
func withDashes(args []string) []string {
	for i, arg := range args {
		if strings.HasPrefix(arg, "---") && !slices.Contains(args[:i], "--") {
			return slices.Insert(slices.Clone(args), i, "--")
		}
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
	name := strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "ctx ")
	err := usagef("no such command: %q", name)
	if !cmd.HasParent() && isShipped(args[0]) {
		return notInstalled(err, args[0])
	}
	if does := command.Other(otherWords, name); does != "" {
		return withHint(err, "%s", does)
	}
	if near := repo.Nearest(args[0], commandNames(cmd)); near != "" {
		return withHint(err, "did you mean `%s %s`?", cmd.CommandPath(), near)
	}
	if cmd.Name() == "config" { // as git takes a key
		return withHint(err,
			"`ctx config get KEY` prints a setting, `ctx config set KEY VALUE` sets it")
	}
	if cmd.HasParent() {
		return withHint(err, "one of %s", strings.Join(commandNames(cmd), ", "))
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
	return usagef("%s needs one of %s", cmd.CommandPath(), strings.Join(commandNames(cmd), ", "))
}

// commandNames returns the names of the commands below one.
func commandNames(cmd *cobra.Command) []string {
	return lists.Map(cmd.Commands(), func(sub *cobra.Command) string { return sub.Name() })
}
