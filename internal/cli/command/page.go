package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Sections are the parts of the help of a command, in the order in which a reader needs them: what
// it does in a line, how it is called, examples, the rest, and the exit codes. A part that a
// command has not is empty.
type Sections struct {
	// The name of the command, and what it does in a line; of a topic the line alone
	Title    string
	Usage    string // without the line end
	Examples string // not indented
	Text     string
	Groups   []Group
	Flags    string // as pflag lists them
	Global   string // the flags of every command
	Codes    string // the exit codes, not indented
}

// Group is a list of commands below one.
type Group struct {
	Title    string
	Commands []*cobra.Command
}

// codesTitle separates the exit codes from the rest of a text that Long returns.
const codesTitle = "\n\nExit codes:\n"

// SectionsOf returns the parts of the help of a command or a topic.
func SectionsOf(cmd *cobra.Command) Sections {
	s := Sections{Title: cmd.CommandPath() + ": " + cmd.Short, Examples: unindent(cmd.Example)}
	text, codes, _ := strings.Cut(cmd.Long, codesTitle)
	s.Text, s.Codes = strings.TrimSpace(text), unindent(codes)
	if cmd.IsAdditionalHelpTopicCommand() {
		s.Title = cmd.Short
		return s
	}
	switch {
	case !cmd.HasParent():
		s.Usage = cmd.Name() + " COMMAND"
	case cmd.Runnable():
		s.Usage = cmd.UseLine()
	case cmd.HasAvailableSubCommands():
		s.Usage = cmd.CommandPath() + " COMMAND"
	}
	s.Groups = groupsOf(cmd)
	s.Flags = flagsOf(cmd.LocalNonPersistentFlags(), cmd.PersistentFlags())
	if cmd.HasParent() {
		s.Global = flagsOf(cmd.InheritedFlags())
	}
	return s
}

// groupsOf returns the commands below one: by group where there are groups, topics last.
func groupsOf(cmd *cobra.Command) (out []Group) {
	var topics Group
	rest := Group{Title: "Commands"}
	by := map[string]int{}
	for _, g := range cmd.Groups() {
		by[g.ID] = len(out)
		out = append(out, Group{Title: strings.TrimSuffix(g.Title, ":")})
	}
	for _, sub := range cmd.Commands() {
		at, grouped := by[sub.GroupID]
		switch {
		case sub.IsAdditionalHelpTopicCommand():
			topics.Commands = append(topics.Commands, sub)
		case !sub.IsAvailableCommand() && sub.Name() != "help":
		case grouped:
			out[at].Commands = append(out[at].Commands, sub)
		default:
			rest.Commands = append(rest.Commands, sub)
		}
	}
	topics.Title = "Topics"
	for _, g := range []Group{rest, topics} {
		if len(g.Commands) > 0 {
			out = append(out, g)
		}
	}
	return out
}

func flagsOf(sets ...*pflag.FlagSet) string {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.SortFlags = sets[0].SortFlags
	for _, set := range sets {
		all.AddFlagSet(set)
	}
	return strings.TrimRight(all.FlagUsages(), "\n")
}

// unindent takes away the two spaces that begin each line of examples and of exit codes.
func unindent(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll(s, "\n  ", "\n"), "  ")
}

// PrintHelp writes the help of a command, for a terminal. title paints the title of each part.
func PrintHelp(w io.Writer, cmd *cobra.Command, title func(string) string) {
	s := SectionsOf(cmd)
	fmt.Fprintln(w, s.Title)
	part := func(name, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			fmt.Fprintf(w, "\n%s\n%s\n", title(name+":"), text)
		}
	}
	part("Usage", indent(s.Usage))
	part("Examples", indent(s.Examples))
	if s.Text != "" {
		fmt.Fprintf(w, "\n%s\n", s.Text)
	}
	width := 0
	for _, g := range s.Groups {
		for _, sub := range g.Commands {
			width = max(width, len(sub.Name()))
		}
	}
	for _, g := range s.Groups {
		var b strings.Builder
		for _, sub := range g.Commands {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, sub.Name(), sub.Short)
		}
		part(g.Title, b.String())
	}
	part("Flags", s.Flags)
	part("Flags of every command", s.Global)
	part("Exit codes", indent(s.Codes))
	if len(s.Groups) > 0 {
		fmt.Fprintf(w, "\n`%s` says more about a command.\n",
			strings.Replace(cmd.CommandPath(), cmd.Root().Name(), cmd.Root().Name()+" help", 1)+
				" COMMAND")
	}
}

func indent(s string) string {
	if s == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(s, "\n", "\n  ")
}
