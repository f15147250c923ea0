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

// codeLines returns the lines of the description in a file, which both gives and takes them.
func codeLines(t *testing.T, file string) lineForm {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	form := lineForm{}
	put := func(key string, fields int) {
		if old, known := form[key]; key != "" && (!known || old < fields) {
			form[key] = fields
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name := called(call); {
		case strings.HasSuffix(strings.ToLower(name), "body") && len(call.Args) == 2:
			put("body", 3)
		case name == "Each":
			put(word(call.Args[1]), fieldsOf(call.Args[3]))
		default:
			if begin, fields := chain(call); begin != nil && len(begin.Args) > 0 {
				put(word(begin.Args[0]), fields)
			}
		}
		return true
	})
	return form
}

// called returns the name of the function or method that is called.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// chain returns the call of Must or Opt with which a chain of calls begins, nil if there is none,
// and how many fields follow; -1 if that is not known.
func chain(call *ast.CallExpr) (begin *ast.CallExpr, fields int) {
	unknown := false
	for ; ; fields++ {
		switch name := called(call); {
		case name == "Must" || name == "Opt":
			if unknown || fields == 0 { // they may be behind another name
				fields = -1
			}
			return call, fields
		case name == "Has" || strings.HasPrefix(name, "Opt") || !ast.IsExported(name):
			unknown = true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil, -1
		}
		if call, ok = f.X.(*ast.CallExpr); !ok {
			if unknown {
				fields = -2
			}
			return nil, fields + 1
		}
	}
}

// fieldsOf returns how many fields a function of Each codes; -1 if that is not known.
func fieldsOf(fn ast.Expr) int {
	switch fn := fn.(type) {
	case *ast.SelectorExpr: // (*Lines).ID
		if ast.IsExported(fn.Sel.Name) {
			return 1
		}
	case *ast.FuncLit:
		for _, s := range fn.Body.List {
			var of ast.Expr
			switch s := s.(type) {
			case *ast.ReturnStmt:
				of = s.Results[0]
			case *ast.ExprStmt:
				of = s.X
			}
			call, ok := of.(*ast.CallExpr)
			if ok && called(call) != "Each" {
				_, n := chain(call)
				return n
			}
		}
	}
	return -1
}

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

// TestPagesHaveTheLines compares the lines that a page lists with those that the code
// describes, and with the samples: a field cannot come into a codec without its page, nor stay on a
// page without its codec.
func TestPagesHaveTheLines(t *testing.T) {
	without := kindsInSource(t)
	for _, c := range []struct {
		kind, page, file string
		byHand           string // lines that no description has, by key
	}{
		{"entry", "entry.md", "entry.go", ""},
		{"blob", "blob.md", "blob.go", ""},
		{"node", "node.md", "node.go", "entry node"},
		{"summary", "summary.md", "summary.go", ""},
		{"tombstone", "tombstone.md", "tombstone.go", ""},
		{"page", "forest.md", "page.go", ""},
		{"forest", "forest.md", "forest.go", ""},
		{"epoch", "epoch.md", "epoch.go", ""},
		{"absent", "absent.md", "absent.go", "sum"},
		{"forgotten", "absent.md", "forgotten.go", "sum"},
		{"checkpoint", "checkpoint.md", "checkpoint.go", "sum"},
		{"store", "store.md", "store.go", "hash id shared-as"},
		{"head", "remote.md", "share/share.go", ""},
		{"push", "remote.md", "share/push.go", ""},
	} {
		without = slices.DeleteFunc(without, func(kind string) bool { return kind == c.kind })
		t.Run(c.kind, func(t *testing.T) {
			page := pageLines(t, c.page, c.kind)
			code := codeLines(t, filepath.FromSlash(c.file))
			for key := range strings.FieldsSeq(c.byHand) {
				code[key] = -1
			}
			compareLines(t, page, code, "describes")
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
