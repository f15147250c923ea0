package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCommandsHaveScripts holds CONTRIBUTING.md's "add a command": a script runs each command.
func TestCommandsHaveScripts(t *testing.T) {
	run, tree := map[string]bool{}, docTree()
	line := regexp.MustCompile(`(?m)^\s*(?:\[[^]]*\]\s*)*[!?]?\s*exec (ctx .*)$`)
	scripts, err := filepath.Glob(filepath.Join("..", "..", "testscript", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts, error %v", err)
	}
	for _, path := range scripts {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(b), -1) {
			for _, args := range ctxCommands(m[1]) {
				if cmd, _, err := tree.Find(args); err == nil {
					run[cmd.CommandPath()] = true
				}
			}
		}
	}
	eachCommand(tree, func(cmd *cobra.Command) {
		if !cmd.HasSubCommands() && cmd.Runnable() && cmd.Name() != "help" &&
			!run[cmd.CommandPath()] {
			t.Errorf("no script of testscript/ runs `%s`", cmd.CommandPath())
		}
	})
}

// TestEveryCommandIsListed holds CONTRIBUTING.md's "add a command": each function that makes a
// command is used, in the table of commands.go or by a command that has it for a subcommand.
func TestEveryCommandIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	maker := regexp.MustCompile(`^new[A-Z]\w*Cmd$`)
	made, used := map[string]bool{}, map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		declared := map[*ast.Ident]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				declared[n.Name] = true
				made[n.Name.Name] = made[n.Name.Name] || maker.MatchString(n.Name.Name)
			case *ast.Ident:
				used[n.Name] = used[n.Name] || !declared[n]
			}
			return true
		})
	}
	count := 0
	for name, is := range made {
		if !is {
			continue
		}
		if count++; !used[name] {
			t.Errorf("%s makes a command, and nothing lists it", name)
		}
	}
	if count < 50 {
		t.Errorf("only %d functions make commands", count)
	}
}

// TestGuidesNameWhatIsThere holds CONTRIBUTING.md to the tree: each file, folder and test that it
// names exists, whatever moves.
func TestGuidesNameWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	b, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	paths, tests := 0, 0
	for _, m := range regexp.MustCompile(
		"`((?:\\.ci|cmd|docs|forest|format|internal|lock|objects|refs|sanitize|testscript)/[^`*]*)`").FindAllStringSubmatch(page, -1) {
		if strings.Contains(m[1], "NAME") || strings.Contains(m[1], "KIND") ||
			strings.Contains(m[1], ".Test") || strings.Contains(m[1], ".Fuzz") {
			continue
		}
		paths++
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
			t.Errorf("CONTRIBUTING.md names %s: %v", m[1], err)
		}
	}
	for _, m := range regexp.MustCompile("`([a-z/-]+\\.(?:Test|Fuzz)[A-Za-z]+)`").
		FindAllStringSubmatch(page, -1) {
		tests++
		if !testIsThere(t, root, m[1]) {
			t.Errorf("CONTRIBUTING.md names %s, and no package has it", m[1])
		}
	}
	if paths < 10 || tests < 8 {
		t.Errorf("CONTRIBUTING.md names %d paths and %d tests", paths, tests)
	}
}
