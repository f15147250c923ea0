package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// between takes at least low and at most high arguments; high below 0 is no limit.
func between(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < low && len(args) == 0:
			return usagef("%s needs an argument: `%s`", cmd.CommandPath(), cmd.UseLine())
		case len(args) < low:
			return usagef("%s needs %d arguments and got %d: `%s`", cmd.CommandPath(), low, len(args), cmd.UseLine())
		case high == 0 && len(args) > 0:
			return usagef("%s takes no argument: %q", cmd.CommandPath(), args[0])
		case high >= 0 && len(args) > high:
			return usagef("too many arguments for %s: %q", cmd.CommandPath(), args[high])
		}
		return nil
	}
}

// noSuchCommand is for commands that have nothing but subcommands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2 // letters that may be wrong
	err := usagef("no such command: %q", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "ctx "))
	if !cmd.HasParent() && isShipped(args[0]) {
		return withHint(err, "ctx-%s is a program of its own: it has to be beside ctx or in a directory of PATH", args[0])
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		for i := range near {
			near[i] = "`" + cmd.CommandPath() + " " + near[i] + "`"
		}
		return withHint(err, "did you mean %s?", strings.Join(near, " or "))
	}
	return err
}

// needsCommand is what a command that has nothing but subcommands does by itself.
func needsCommand(cmd *cobra.Command, _ []string) error {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usagef("%s needs one of %s", cmd.CommandPath(), strings.Join(names, ", "))
}

// meaning is what an exit code says.
type meaning struct {
	code int
	text string
}

// exitCodes lists every exit code.
func exitCodes() []meaning {
	return []meaning{
		{exitDone, "done"},
		{exitFailed, "failed, or the answer is no"},
		{exitUsage, "usage: a flag, an argument, a setting or an input that cannot be taken"},
		{exitNoStore, "no store here, or none that this build may use"},
		{exitLocked, "locked: another process is writing"},
		{exitStale, "stale, or refused by history"},
		{exitCorrupt, "corrupt"},
		{exitGone, "gone: forgotten, or only a removed session had it"},
		{exitNotFound, "not found, or ambiguous"},
		{exitBlocked, "blocked: something has to happen first"},
		{exitInterrupted, "interrupted"},
	}
}

// long puts a command's description and its exit codes together. 0, 1, 2 and 130 need not be named.
func long(text string, codes ...int) string {
	var b strings.Builder
	b.WriteString(wrap(strings.TrimSpace(text)))
	b.WriteString("\n\nExit codes:\n")
	for _, m := range exitCodes() {
		show := m.code < exitNoStore || m.code == exitInterrupted
		for _, code := range codes {
			show = show || code == m.code
		}
		if show {
			fmt.Fprintf(&b, "  %-3d  %s\n", m.code, m.text)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// helpWidth is how many columns a line of help takes: half of a wide terminal.
const helpWidth = 96

// wrap breaks the paragraphs of a text into lines anew. One with an indented line stays as it is.
func wrap(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			continue
		}
		var b strings.Builder
		column := 0
		for _, word := range strings.Fields(p) {
			n := utf8.RuneCountInString(word)
			switch {
			case column == 0:
			case column+1+n > helpWidth:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
		paragraphs[i] = b.String()
	}
	return strings.Join(paragraphs, "\n\n")
}
