package format_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lineForm is how many fields a line of a key has; -1 is not known.
type lineForm map[string]int

// pageLines returns the lines that a page lists for a kind, but for the first, which is the kind.
func pageLines(t *testing.T, page, kind string) lineForm {
	t.Helper()
	_, rest, found := strings.Cut(readPage(t, page), "\n    "+kind+" 1\n")
	if !found {
		t.Fatalf("%s: no lines of a %s", page, kind)
	}
	form := lineForm{}
	for line := range strings.Lines(rest) {
		line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if !ok {
			break
		}
		line, _, _ = strings.Cut(line, "  ") // behind it is how often the line stands there
		words := strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(line, "x"))
		form[words[0]] = len(words) - 1
	}
	return form
}

// codeLines returns the lines that the code of a codec gives and those that it takes, as the calls
// in a file name their keys and fields.
func codeLines(t *testing.T, file, kind string) (gives, takes lineForm) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	gives, takes = lineForm{}, lineForm{}
	put := func(form lineForm, key string, fields int) {
		if key != "" && key != kind && form[key] <= 0 {
			form[key] = fields
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			what, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			switch x, _ := what.X.(*ast.Ident); {
			case x == nil:
			case what.Sel.Name == "body":
				put(gives, "body", 3)
			case strings.HasSuffix(what.Sel.Name, "Body") && x.Name == "r":
				put(takes, "body", 3)
			case len(n.Args) == 0 || what.Sel.Name == "fail":
			case x.Name == "w":
				put(gives, word(n.Args[0]), len(n.Args)-1)
			case x.Name == "r":
				put(takes, word(n.Args[0]), fieldsOf(what.Sel.Name, n.Args))
			}
		case *ast.CompositeLit: // a list of keys that are written alike
			if len(n.Elts) > 1 {
				put(gives, word(n.Elts[0]), -1)
			}
		case *ast.BinaryExpr: // key == "x" && len(f) == 1
			left, _ := n.X.(*ast.BinaryExpr)
			right, _ := n.Y.(*ast.BinaryExpr)
			if left != nil && right != nil && n.Op == token.LAND && isKey(left.X) {
				put(takes, word(left.Y), count(right.Y))
			}
		}
		return true
	})
	return gives, takes
}

// fieldsOf returns how many fields a call of a headerReader takes of a line.
func fieldsOf(method string, args []ast.Expr) int {
	switch {
	case len(args) > 1:
		return count(args[1])
	case strings.HasPrefix(method, "opt"):
		return 1
	}
	return -1
}

func isKey(e ast.Expr) bool { id, ok := e.(*ast.Ident); return ok && id.Name == "key" }

// word returns the word of lower-case letters that an expression is, or "".
func word(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil || text == "" || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return text
}

// count returns the number that an expression is, or -1.
func count(e ast.Expr) int {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return -1
	}
	n, err := strconv.Atoi(lit.Value)
	if err != nil {
		return -1
	}
	return n
}

// TestPagesHaveTheLines compares the lines that a page lists with those that the code gives and
// takes, and with the samples: a field cannot come into a codec without its page, nor stay on a
// page without its codec.
func TestPagesHaveTheLines(t *testing.T) {
	without := kindsInSource(t)
	for _, c := range []struct {
		kind, page, file string
		byHand           string // lines that are not written, or not read, by key
	}{
		{"entry", "entry.md", "entry.go", ""},
		{"blob", "blob.md", "blob.go", ""},
		{"node", "node.md", "node.go", "entry node"},
		{"summary", "summary.md", "summary.go", ""},
		{"tombstone", "tombstone.md", "tombstone.go", ""},
		{"page", "forest.md", "page.go", "page"},
		{"forest", "forest.md", "forest.go", ""},
		{"epoch", "epoch.md", "epoch.go", ""},
		{"absent", "absent.md", "absent.go", ""},
		{"forgotten", "absent.md", "forgotten.go", "sum"},
		{"checkpoint", "checkpoint.md", "checkpoint.go", "ref sum"},
		{"store", "store.md", "store.go", "hash id shared-as"},
		{"head", "remote.md", "share/head.go", "signature"},
		{"push", "remote.md", "share/push.go", ""},
	} {
		without = slices.DeleteFunc(without, func(kind string) bool { return kind == c.kind })
		t.Run(c.kind, func(t *testing.T) {
			page := pageLines(t, c.page, c.kind)
			gives, takes := codeLines(t, filepath.FromSlash(c.file), c.kind)
			for key := range strings.FieldsSeq(c.byHand) {
				gives[key], takes[key] = -1, -1
			}
			compareLines(t, page, gives, "gives")
			compareLines(t, page, takes, "takes")
			if !strings.Contains(c.file, "/") {
				compareSamples(t, page, codecOf(t, c.kind).samples)
			}
		})
	}
	if len(without) > 0 {
		t.Errorf("kinds that are not compared: %q", without)
	}
}

func compareLines(t *testing.T, page, code lineForm, what string) {
	t.Helper()
	for key, fields := range code {
		if want, ok := page[key]; !ok {
			t.Errorf("the code %s a line %q, which the page does not have", what, key)
		} else if fields >= 0 && fields != want {
			t.Errorf("the code %s %d fields of a line %q, and the page has %d", what, fields, key,
				want)
		}
	}
	for key := range page {
		if _, ok := code[key]; !ok {
			t.Errorf("the page has a line %q, which no code %s", key, what)
		}
	}
}

func compareSamples(t *testing.T, page lineForm, samples [][]byte) {
	t.Helper()
	shown := lineForm{}
	for _, b := range samples {
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for _, line := range lines[1:] {
			words := strings.Split(line, " ")
			fields := len(words) - 1
			if words[0] == "ref" { // a value has fields of its own
				fields = min(fields, 2)
			}
			shown[words[0]] = fields
			if fields != page[words[0]] {
				t.Errorf("line %q has %d fields, and on the page %d", line, fields, page[words[0]])
			}
		}
	}
	compareLines(t, page, shown, "shows")
}

// TestPagesHaveTheKeys does the same for the bodies that are JSON.
func TestPagesHaveTheKeys(t *testing.T) {
	keys := func(text string) (list []string) {
		for _, m := range regexp.MustCompile(`"([a-z]+)":`).FindAllStringSubmatch(text, -1) {
			if !slices.Contains(list, m[1]) {
				list = append(list, m[1])
			}
		}
		return list
	}
	for _, kind := range []string{"mask", "replace"} {
		_, form, found := strings.Cut(readPage(t, kind+".md"), "\n    {")
		form, _, _ = strings.Cut(form, "\n")
		var shown []string
		for _, b := range codecOf(t, kind).samples {
			shown = append(shown, keys(string(b))...)
		}
		slices.Sort(shown)
		want := keys(form)
		slices.Sort(want)
		if shown = slices.Compact(shown); !found || !slices.Equal(want, shown) {
			t.Errorf("%s: the page has the keys %q, the body %q", kind, want, shown)
		}
	}
}
