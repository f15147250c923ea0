package refs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// The table of verbs on the page agrees with the table effects, row by row.
func TestVerbsPage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "format", "operation.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n## Verbs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	var want []string
	for _, verb := range refs.Verbs() {
		want = append(want, row(verb))
	}
	if got, want := strings.Join(rows, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("docs/format/operation.md has\n%s\nand refs/verbs.go\n%s", got, want)
	}
}

func row(verb string) string {
	e, _ := refs.EffectsOfVerb(verb)
	var does []string
	for _, at := range []struct {
		is   bool
		word string
	}{
		{e.Extends, "extends"}, {e.Moves, "moves"}, {e.Leaves, "leaves"}, {e.Restores, "restores"},
		{e.Makes, "makes"}, {e.Removes, "removes"},
		{e.Summarizes, "summarizes"}, {e.Forgets, "forgets"},
	} {
		if at.is {
			does = append(does, at.word)
		}
	}
	undo := map[format.UndoRule]string{
		format.UndoRefuses: "refuses", format.UndoTakes: "takes it back",
		format.UndoPasses: "passes it",
		format.UndoIsUndo: "is one", format.UndoIsRedo: "is one",
	}[e.Undo]
	what := strings.Join(does, ", ")
	if what != "" {
		what += " "
	}
	return "| `" + verb + "` | " + what + "| " + undo + " |"
}

// Every verb that the source code commits is in the table, whether it is a constant or a literal.
func TestVerbsOfTheSource(t *testing.T) {
	for _, verb := range verbsWritten(t) {
		if _, known := refs.EffectsOfVerb(verb.text); !known {
			t.Errorf("%s: the verb %q has no effect in refs/verbs.go", verb.place, verb.text)
		}
	}
	if e, known := refs.EffectsOfVerb("graft"); known || e.Undo != format.UndoRefuses {
		t.Errorf("an unknown verb is known (%t), or undo does not refuse it: %+v", known, e)
	}
}

type written struct{ place, text string }

// verbsWritten returns the values of the constants Verb*, and the string literals for a field Verb,
// of all source files except tests.
func verbsWritten(t *testing.T) (list []written) {
	set := token.NewFileSet()
	add := func(at ast.Expr) {
		if lit, ok := at.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, written{set.Position(lit.Pos()).String(), text})
		}
	}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Verb" {
					add(n.Value)
				}
			case *ast.ValueSpec:
				if f.Name.Name == "refs" && strings.HasPrefix(n.Names[0].Name, "Verb") &&
					len(n.Values) == 1 {
					add(n.Values[0])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < len(refs.Verbs()) {
		t.Errorf("%d verbs were found in the source, and the table has %d", len(list),
			len(refs.Verbs()))
	}
	return list
}
