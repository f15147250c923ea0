package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/browse"
	"github.com/gemini-ctx/ctx/internal/eval"
)

var update = flag.Bool("update", false, "write docs/cli and the expected output in scripts anew")

// TestDocs holds docs/cli to what the commands say of themselves. `go test ./cmd/ctx -run TestDocs
// -update` writes it.
func TestDocs(t *testing.T) {
	dir := filepath.Join("..", "..", "docs", "cli")
	pages := map[string]string{}
	root := docTree()
	for _, p := range docPages(root) {
		pages[p.file] = p.text()
	}
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
			if *update && os.Remove(path) == nil {
				continue
			}
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
	for _, cmd := range []*cobra.Command{browse.Command(), eval.Command()} {
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
