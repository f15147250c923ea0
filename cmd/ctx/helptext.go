package main

import (
	_ "embed" // the texts
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// helpTexts has the descriptions of commands and topics. A section begins with a line "# " and the
// command, and says in a few words what it does; then come the description, the exit codes that not
// every command has, and examples.
//
//go:embed help.txt
var helpTexts string

// What begins a section and its parts.
const (
	helpSection  = "\n# "
	helpCodes    = "\n\nExit codes:"
	helpExamples = "\n\nExamples:\n"
)

// describe gives all commands of a tree the descriptions of help.txt. It is called when help is
// asked for, or words to complete a line: other runs need none.
func describe(cmd *cobra.Command) {
	sections := map[string]string{}
	for text := range strings.SplitSeq("\n"+helpTexts, helpSection) {
		title, _, _ := strings.Cut(text, "\n")
		name, _, _ := strings.Cut(title, ": ")
		sections[name] = text
	}
	describeAll(cmd.Root(), sections)
}

func describeAll(cmd *cobra.Command, sections map[string]string) {
	if text := sections[cmd.CommandPath()]; text != "" {
		title, text, _ := strings.Cut(strings.TrimSpace(text), "\n")
		if _, short, found := strings.Cut(title, ": "); found {
			cmd.Short = short
		}
		text, cmd.Example, _ = strings.Cut(text, helpExamples)
		text, line, coded := strings.Cut(text, helpCodes)
		if cmd.Long = text; coded {
			var codes []int
			for _, word := range strings.Fields(line) {
				code, _ := strconv.Atoi(word)
				codes = append(codes, code)
			}
			cmd.Long = long(text, codes...)
		}
	}
	for _, sub := range cmd.Commands() {
		describeAll(sub, sections)
	}
}
