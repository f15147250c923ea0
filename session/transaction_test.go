package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The value that stands for a transaction is made where the lock is taken, and nowhere else: who has one holds the lock.
func TestTransactionsAreMadeUnderTheLock(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var makers []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
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
				if id, ok := made.(*ast.Ident); ok && id.Name == "tx" {
					where := "a declaration"
					if fn, ok := d.(*ast.FuncDecl); ok {
						where = fn.Name.Name
					}
					makers = append(makers, where)
				}
				return true
			})
		}
	}
	if len(makers) != 1 || makers[0] != "locked" {
		t.Errorf("a transaction is made in %q, want in locked alone", makers)
	}
}
