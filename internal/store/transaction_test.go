package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestTransactionsAreMadeUnderTheLock: store.Locked makes the value of a transaction, and nothing
// else does. Whoever has one holds the lock.
func TestTransactionsAreMadeUnderTheLock(t *testing.T) {
	set := token.NewFileSet()
	var makers []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		inStore := f.Name.Name == "store"
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				var made ast.Expr
				switch n := n.(type) {
				case *ast.CompositeLit:
					made = n.Type
				case *ast.CallExpr:
					if fun, ok := n.Fun.(*ast.Ident); ok && fun.Name == "new" {
						made = n.Args[0]
					}
				}
				if inStore && isIdent(made, "Tx") || isOf(made, "store", "Tx") {
					where := "a declaration"
					if fn, ok := d.(*ast.FuncDecl); ok {
						where = fn.Name.Name
					}
					makers = append(makers, filepath.Base(path)+" "+where)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(makers) != 1 || !strings.HasSuffix(makers[0], " Locked") {
		t.Errorf("a transaction is made in %q, want in Locked alone", makers)
	}
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

func isOf(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && isIdent(s.X, pkg) && s.Sel.Name == name
}
