package architecture

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is the module in a directory, type-checked without its tests.
type tree struct {
	fset     *token.FileSet
	module   string
	packages []*pkg // each after those that it imports
	byPath   map[string]*pkg
}

// pkg is one package of the module.
type pkg struct {
	path  string // below the module, such as internal/store
	files []*ast.File
	names []string // of files, absolute
	types *types.Package
	info  *types.Info
	below map[string]bool // paths of the packages that it imports, directly or not
}

// listed is what `go list` prints of one package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	Module                  *struct{ Main bool }
}

// load lists the packages of the module in dir, and type-checks them from source. Packages of other
// modules come from compiled export data.
func load(t *testing.T, dir string) *tree {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-export",
		"-json=ImportPath,Dir,Export,GoFiles,Imports,Module", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, &stderr)
	}
	mod := exec.Command("go", "list", "-m")
	mod.Dir = dir
	name, err := mod.Output()
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{fset: token.NewFileSet(), module: strings.TrimSpace(string(name)),
		byPath: map[string]*pkg{}}
	export := map[string]string{}
	gc := importer.ForCompiler(tr.fset, "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return tr
		} else if err != nil {
			t.Fatal(err)
		}
		if l.Module == nil || !l.Module.Main {
			export[l.ImportPath] = l.Export
			continue
		}
		if len(l.GoFiles) > 0 {
			tr.check(t, l, gc)
		}
	}
}

// check type-checks one package. Packages that it imports have been checked.
func (tr *tree) check(t *testing.T, l listed, others types.Importer) {
	t.Helper()
	p := &pkg{path: tr.short(l.ImportPath), below: map[string]bool{}}
	for _, name := range l.GoFiles {
		path := filepath.Join(l.Dir, name)
		f, err := parser.ParseFile(tr.fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		p.files, p.names = append(p.files, f), append(p.names, path)
	}
	for _, path := range l.Imports {
		if q := tr.byPath[tr.short(path)]; q != nil {
			p.below[q.path] = true
			for r := range q.below {
				p.below[r] = true
			}
		}
	}
	p.info = &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{},
	}
	conf := types.Config{Importer: importFunc(func(path string) (*types.Package, error) {
		if q := tr.byPath[tr.short(path)]; q != nil && path != q.path {
			return q.types, nil
		}
		return others.Import(path)
	})}
	var err error
	if p.types, err = conf.Check(l.ImportPath, tr.fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
	tr.packages, tr.byPath[p.path] = append(tr.packages, p), p
}

// importFunc is a function as an importer.
type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }

// short returns an import path below the module. The path of another module stays as it is.
func (tr *tree) short(path string) string {
	return strings.TrimPrefix(path, tr.module+"/")
}

// function is a function or method of the module, with the functions that its body names.
type function struct {
	*pkg
	name  string // such as store.Tx.Commit
	obj   *types.Func
	file  string
	line  int
	calls []*types.Func // named in the body, function literals included
}

// functions returns the functions of the tree by their objects.
func (tr *tree) functions() map[*types.Func]*function {
	all := map[*types.Func]*function{}
	for _, p := range tr.packages {
		for i, f := range p.files {
			for _, d := range f.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if !ok || fd.Body == nil {
					continue
				}
				obj, ok := p.info.Defs[fd.Name].(*types.Func)
				if !ok {
					continue
				}
				fn := &function{
					pkg: p, name: p.path + "." + receiver(fd) + fd.Name.Name, obj: obj,
					file: p.names[i], line: tr.fset.Position(fd.Pos()).Line,
				}
				ast.Inspect(fd.Body, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						if callee, ok := p.info.Uses[id].(*types.Func); ok {
							fn.calls = append(fn.calls, callee.Origin())
						}
					}
					return true
				})
				all[obj] = fn
			}
		}
	}
	return all
}

// receiver returns the name of a method's type with a dot behind it, and "" for a function.
func receiver(fd *ast.FuncDecl) string {
	if fd.Recv == nil {
		return ""
	}
	e := fd.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return "?."
		}
	}
}

// find returns the function whose full name ends in a name such as store.Tx.Commit.
func find(all map[*types.Func]*function, name string) (*function, error) {
	var found []*function
	for _, f := range all {
		if f.name == name || strings.HasSuffix(f.name, "/"+name) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b *function) int { return cmp.Compare(a.name, b.name) })
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("no function %s", name)
	case len(found) > 1:
		return nil, fmt.Errorf("%s is both %s and %s", name, found[0].name, found[1].name)
	}
	return found[0], nil
}

// leadsTo reports whether a caller names a callee, itself or through an interface that it
// implements.
func leadsTo(caller, callee *function) bool {
	for _, c := range caller.calls {
		if c == callee.obj {
			return true
		}
		if c.Name() != callee.obj.Name() {
			continue
		}
		recv, ours := c.Signature().Recv(), callee.obj.Signature().Recv()
		if recv == nil || ours == nil {
			continue
		}
		if i, ok := recv.Type().Underlying().(*types.Interface); ok &&
			types.Implements(ours.Type(), i) {
			return true
		}
	}
	return false
}
