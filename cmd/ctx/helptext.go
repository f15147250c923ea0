package main

import (
	"cmp"
	_ "embed" // the texts
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/usage"
)

// helpTexts has the descriptions of commands and topics. A section begins with a line "# " and the
// command, and says in a few words what it does; then come the description, the exit codes that not
// every command has, and examples. A section of AGENT is for each agent that has none of its own.
// Names in braces are those of helpNames.
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
func describe(cmd *cobra.Command) { describeAll(cmd.Root(), helpSections()) }

// helpSections returns the sections of help.txt by their commands, each from its title on.
func helpSections() map[string]string {
	sections := map[string]string{}
	for text := range strings.SplitSeq("\n"+helpTexts, helpSection) {
		title, _, _ := strings.Cut(text, "\n")
		name, _, _ := strings.Cut(title, ": ")
		sections[name] = text
	}
	return sections
}

// helpNames returns the names in braces that a section may have, each with what it stands for in
// the help of a command.
func helpNames(cmd *cobra.Command) []string {
	row, _ := catalog.Named(cmd.Name())
	h, _ := hooks.AgentNamed(cmd.Name())
	own := func(is bool, text string) string {
		if is {
			return text
		}
		return ""
	}
	gemini := cmd.Name() == hooks.GeminiCLI
	// Where the hook tells something it records only if a summary is to be made there.
	records := slices.DeleteFunc(h.EventNames(), func(name string) bool {
		return name == h.Answers() || name == h.Heeds() || name == h.Mends() ||
			gemini && name == h.Tells()
	})
	return []string{"{NAME}", cmd.Name(), "{TITLE}", cmp.Or(row.Title, h.Title),
		"{EXAMPLE}", row.Example, "{PAGE}", cmp.Or(row.Page, row.Name),
		"{SAVES}", own(gemini, "/chat save"), "{PROJECT}", h.Project, "{TRUST}", h.Trust,
		"{EXTENSION}", own(gemini, "DIR"), "{SILENT}", own(h.EventInCommand, h.Title),
		"{RECORDS}", wordsAnd(records), "{TELLS}", own(!gemini, h.Tells()),
		"{ASKS}", own(gemini, h.Tells()), "{ANSWERS}", h.Answers(), "{HEEDS}", h.Heeds(),
		"{KEEPS}", h.Keeps(), "{MENDS}", h.Mends(),
		"{HOOKS}", agentNames(hooks.Agents()), "{PRICES}", usage.PricesOf}
}

// filled returns a section as it is for a command: without the paragraphs that have a name in
// braces which stands for nothing.
func filled(section string, cmd *cobra.Command) string {
	if !strings.Contains(section, "{") {
		return section
	}
	names := helpNames(cmd)
	paragraphs := slices.DeleteFunc(strings.Split(section, "\n\n"), func(p string) bool {
		for i := 0; i < len(names); i += 2 {
			if names[i+1] == "" && strings.Contains(p, names[i]) {
				return true
			}
		}
		return false
	})
	return strings.NewReplacer(names...).Replace(strings.Join(paragraphs, "\n\n"))
}

func describeAll(cmd *cobra.Command, sections map[string]string) {
	text := sections[cmd.CommandPath()]
	if text == "" && cmd.HasParent() {
		text = cmp.Or(sections[cmd.Parent().CommandPath()+" AGENT"], sections["ctx "+cmd.Name()])
	}
	if text = filled(text, cmd); text != "" {
		title, text, _ := strings.Cut(strings.TrimSpace(text), "\n")
		if _, short, found := strings.Cut(title, ": "); found {
			cmd.Short = short
		}
		text, cmd.Example, _ = strings.Cut("\n"+text, helpExamples)
		text, line, coded := strings.Cut(text, helpCodes)
		if cmd.Long = strings.TrimSpace(text); coded {
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
