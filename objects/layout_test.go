package objects_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// No other package of the module writes down a name of the layout: in a path, in a list of names or
// in a case. Who needs one asks this package.
func TestLayoutIsKnownHereAlone(t *testing.T) {
	part := regexp.MustCompile(`(^|/)(objects|absent)/[^ ]|^pack-|^forget-|\.(pack|idx)$`)
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(path == filepath.Join("..", "objects") || d.Name() == "testdata" ||
				strings.HasPrefix(d.Name(), ".") && path != ".."):
			return filepath.SkipDir
		case d.IsDir() && path == filepath.Join("..", "internal", "remote", "git"):
			return filepath.SkipDir // git has directories of the same names
		case path == filepath.Join("..", "internal", "bench", "pushes.go"):
			return nil // it looks into a git repository
		case path == filepath.Join("..", "internal", "repo", "shield.go"):
			return nil // it makes what git takes for a repository
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		check := func(e ast.Expr, isName func(string) bool) {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, _ := strconv.Unquote(lit.Value); isName(s) {
					t.Errorf("%s names %q", set.Position(lit.Pos()), s)
				}
			}
		}
		folder := func(s string) bool {
			return s == objects.Dir || s == objects.AbsentDir || s == "pack"
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.BasicLit:
				check(n, part.MatchString)
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Join" {
					for _, e := range n.Args {
						check(e, folder)
					}
				}
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					check(e, folder)
				}
			case *ast.CaseClause:
				for _, e := range n.List {
					check(e, folder)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("read %d files", files)
	}
}

// A name that the store gives a file is one that FileLimit knows, and in a folder that Folders
// lists.
func TestFileLimit(t *testing.T) {
	id, err := format.ParseID(strings.Repeat("ab", 32))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		objects.AbsentName(id), objects.PackName(id, objects.PackExt),
		objects.PackName(id, objects.IndexExt), objects.ForgottenName(12),
	} {
		if limit, ok := objects.FileLimit(name); !ok || limit <= 0 {
			t.Errorf("%s: %d, %v", name, limit, ok)
		}
		if !slices.Contains(objects.Folders(""),
			filepath.FromSlash(name[:strings.LastIndexByte(name, '/')])) {
			t.Errorf("%s is in no folder of the layout", name)
		}
		for _, bad := range []string{name + "x", "x" + name, strings.ToUpper(name), "../" + name,
			strings.Replace(name, "/", "//", 1)} {
			if _, ok := objects.FileLimit(bad); ok {
				t.Errorf("%s is taken for a file of the store", bad)
			}
		}
	}
	for _, bad := range []string{
		"", objects.UnfinishedName(), "objects/pack/pack-" + id.String(),
		"objects/pack/" + id.String() + ".pack",
		"objects/pack/pack-" + id.String() + ".pack.idx", "absent/forget-012", "absent/forget-",
		"objects/" + id.String()[:2] + "/" + id.String()[2:],
	} {
		if _, ok := objects.FileLimit(bad); ok {
			t.Errorf("%s is taken for a file of the store", bad)
		}
	}
}
