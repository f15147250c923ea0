package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/browse"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/eval/program"
)

var update = flag.Bool("update", false, "write docs/cli and the expected output in scripts anew")

// TestDocs holds docs/cli to what the commands say of themselves. `go test ./cmd/ctx -run TestDocs
// -update` writes it.
func TestDocs(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "cli")
	pages := map[string]string{}
	root := docTree()
	eachCommand(root, func(cmd *cobra.Command) { pages[pageName(cmd)] = page(cmd) })
	pages["README.md"] = contents(root)
	if *update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range pages {
		path := filepath.Join(dir, name)
		got, err := os.ReadFile(path)
		switch {
		case err == nil && string(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))) == want:
		case *update:
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf(
				"%s is not what the command says; `go test ./cmd/ctx -run TestDocs -update` "+
					"writes it", path)
		}
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if _, ok := pages[filepath.Base(path)]; !ok {
			t.Errorf("%s is about no command", path)
		}
	}
}

// TestHelp holds every command to a description, an example and its exit codes.
func TestHelp(t *testing.T) {
	eachCommand(docTree(), func(cmd *cobra.Command) {
		topic := cmd.IsAdditionalHelpTopicCommand()
		switch {
		case cmd.Short == "" || cmd.Long == "":
			t.Errorf("%s: no description", cmd.CommandPath())
		case strings.HasSuffix(cmd.Short, "."):
			t.Errorf("%s: full stop after %q", cmd.CommandPath(), cmd.Short)
		case topic || !cmd.HasParent():
		case cmd.Example == "":
			t.Errorf("%s: no example", cmd.CommandPath())
		case !strings.Contains(cmd.Long, "Exit codes:\n  0 "):
			t.Errorf("%s: no exit codes", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Long + "\n" + cmd.Example) {
			if len(strings.TrimRight(line, "\n")) > 130 {
				t.Errorf("%s: long line: %s", cmd.CommandPath(), line)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			// Back quotes in a usage name the argument; a flag that is on or off has none.
			argument, _ := pflag.UnquoteUsage(f)
			if _, name, quoted := strings.Cut(f.Usage, "`"); quoted &&
				(f.Value.Type() == "bool" || argument != strings.ToUpper(argument)) {
				t.Errorf("%s: --%s has %.20q for its argument", cmd.CommandPath(), f.Name, name)
			}
		})
		if !topic && cmd.HasParent() && cmd.Args == nil && !strings.Contains(cmd.Use, "[") &&
			!strings.Contains(cmd.Use, "...") {
			t.Errorf("%s: takes any arguments", cmd.CommandPath())
		}
	})
}

// TestHelpTexts holds help.txt to the commands that there are.
func TestHelpTexts(t *testing.T) {
	known := map[string]bool{}
	eachCommand(docTree(), func(cmd *cobra.Command) {
		known[cmd.CommandPath()] = true
		if _, is := catalog.Named(cmd.Name()); is {
			known[cmd.Parent().CommandPath()+" AGENT"] = true
		}
	})
	for line := range strings.Lines(helpTexts) {
		name, begins := strings.CutPrefix(strings.TrimSpace(line), "# ")
		name, _, _ = strings.Cut(name, ": ")
		if begins && !known[name] {
			t.Errorf("help.txt has a text for %q, which is no command", name)
		}
	}
}

// TestCommandNames holds the list of commands to their own names: a line is taken by the first
// word.
func TestCommandNames(t *testing.T) {
	for _, e := range commands() {
		if cmd := e.make(&app{}); cmd.Name() != e.name {
			t.Errorf("the command listed as %q is called %q", e.name, cmd.Name())
		}
	}
}

// docTree is the command tree outside any world.
func docTree() *cobra.Command {
	w := world{getenv: func(string) string { return "" }, stdout: &bytes.Buffer{},
		stderr: &bytes.Buffer{}, stdin: strings.NewReader("")}
	root := newRoot(&app{world: w, out: newOutput(w.stdout)}, nil)
	// Programs of their own
	for _, cmd := range []*cobra.Command{browse.Command(), program.Command()} {
		cmd.GroupID = groupOther
		root.AddCommand(cmd)
	}
	root.SetContext(context.Background())
	root.InitDefaultHelpCmd()
	describe(root)
	return root
}

func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	if cmd.Hidden {
		return
	}
	do(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, do)
	}
}

func pageName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".md"
}

// page is the documentation of one command: what its help says, in the same order.
func page(cmd *cobra.Command) string {
	var b strings.Builder
	s := command.SectionsOf(cmd)
	fmt.Fprintf(&b, "<!-- generated: go test ./cmd/ctx -run TestDocs -update -->\n\n# %s\n\n%s.\n",
		cmd.CommandPath(), cmd.Short)
	part := func(title, kind, text string) {
		if text == "" {
			return
		}
		if title != "" {
			fmt.Fprintf(&b, "\n## %s\n", title)
		}
		fmt.Fprintf(&b, "\n```%s\n%s\n```\n", kind, strings.TrimRight(text, "\n"))
	}
	part("", "", s.Usage)
	part("Examples", "", s.Examples)
	if s.Text != "" {
		part("Description", "text", s.Text)
	}
	if cmd.HasParent() {
		for _, g := range s.Groups {
			fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
			commandList(&b, g.Commands)
		}
	}
	part("Flags", "", s.Flags)
	if s.Codes != "" {
		fmt.Fprintf(&b, "\n[Exit codes](ctx-exit-codes.md): %s\n", codesOf(s.Codes))
	}
	if s.Global != "" {
		b.WriteString("\n[Common flags](ctx.md)\n")
	}
	return b.String()
}

// codesOf lists the exit codes of a command without what they mean, which one page says.
func codesOf(table string) string {
	var codes []string
	for line := range strings.Lines(table) {
		code, _, _ := strings.Cut(line, " ")
		codes = append(codes, code)
	}
	last := len(codes) - 1
	return strings.Join(codes[:last], ", ") + " or " + codes[last]
}

func commandList(b *strings.Builder, list []*cobra.Command) {
	for _, cmd := range list {
		if !cmd.Hidden {
			fmt.Fprintf(b, "- [%s](%s): %s\n", cmd.CommandPath(), pageName(cmd), cmd.Short)
		}
	}
}

// contents is the list of all pages.
func contents(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(
		"<!-- generated: go test ./cmd/ctx -run TestDocs -update -->\n\n# The commands of ctx\n\n")
	fmt.Fprintf(&b, "What every command has in common is on the page of [ctx](%s).\n",
		pageName(root))
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n", strings.TrimSuffix(g.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID {
				commandList(&b, []*cobra.Command{cmd})
				commandList(&b, cmd.Commands())
			}
		}
	}
	b.WriteString("\n## Topics\n\n")
	for _, cmd := range root.Commands() {
		if cmd.IsAdditionalHelpTopicCommand() {
			commandList(&b, []*cobra.Command{cmd})
		}
	}
	return b.String()
}
