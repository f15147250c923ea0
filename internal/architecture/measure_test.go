package architecture

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestMeasure prints the measures of the module in the directory CTX_MEASURE. CTX_WALKS names a
// page with walks, if it is not the module's own docs/architecture.md.
func TestMeasure(t *testing.T) {
	dir := os.Getenv("CTX_MEASURE")
	if dir == "" {
		t.Skip("set CTX_MEASURE to the directory of a module")
	}
	page := cmp.Or(os.Getenv("CTX_WALKS"), filepath.Join(dir, "docs", "architecture.md"))
	tr := load(t, dir)
	if len(tr.packages) == 0 {
		t.Fatal("no packages")
	}
	all := tr.functions()
	for _, section := range []string{
		measureText(t, dir), tr.measureFunctions(all), tr.measureMethods(), tr.measureExports(),
		tr.measureWalks(t, all, page),
	} {
		fmt.Println(section)
	}
}

// measureText counts files and lines of the whole tree, build tags or not.
func measureText(t *testing.T, dir string) string {
	t.Helper()
	var files, lines, tests, code, comments, over100, over120, comments100, comments120 int
	var lengths []int
	type size struct{ lines, files int }
	sizes := map[string]size{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			(d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != dir):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		if strings.HasSuffix(path, "_test.go") {
			tests += len(text)
			return nil
		}
		hasCode, hasComment := kinds(b, len(text))
		for i, line := range text {
			width := utf8.RuneCountInString(line)
			if width > 100 {
				over100++
			}
			if width > 120 {
				over120++
			}
			switch {
			case hasCode[i]:
				code++
			case hasComment[i]:
				comments++
				if width > 100 {
					comments100++
				}
				if width > 120 {
					comments120++
				}
			}
		}
		files++
		lines += len(text)
		lengths = append(lengths, len(text))
		rel, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		s := sizes[filepath.ToSlash(rel)]
		sizes[filepath.ToSlash(rel)] = size{s.lines + len(text), s.files + 1}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b,
		"files %d, lines %d, code %d, comment lines %d (%.1f %%), file p50/max %d/%d, "+
			"test lines %d\n",
		files, lines, code, comments, 100*float64(comments)/float64(lines), percentile(lengths, 50),
		percentile(lengths, 100), tests)
	fmt.Fprintf(&b,
		"lines over 100 columns %d, over 120 %d; comment lines over 100 %d, over 120 %d\n\n",
		over100, over120, comments100, comments120)
	b.WriteString("lines/files by package:")
	order := slices.SortedFunc(maps.Keys(sizes), func(p, q string) int {
		return cmp.Or(cmp.Compare(sizes[q].lines, sizes[p].lines), cmp.Compare(p, q))
	})
	for _, p := range order {
		fmt.Fprintf(&b, " %s %d/%d,", p, sizes[p].lines, sizes[p].files)
	}
	return b.String() + "\n"
}

// kinds tells of each line of a file whether it has code, and whether it has a comment.
func kinds(src []byte, lines int) (code, comment []bool) {
	code, comment = make([]bool, lines+1), make([]bool, lines+1)
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(f, src, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return code, comment
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := f.Line(pos) - 1
		for i := range 1 + strings.Count(lit, "\n") {
			if tok == token.COMMENT {
				comment[first+i] = true
			} else {
				code[first+i] = true
			}
		}
	}
}

// percentile returns the value at or below which p percent of a list are.
func percentile(list []int, p int) int {
	slices.Sort(list)
	return list[max(0, (len(list)*p+99)/100-1)]
}

// measureFunctions measures the functions that this platform builds.
func (tr *tree) measureFunctions(all map[*types.Func]*function) string {
	var lengths, branches []int
	var widest string
	most := 0
	for _, p := range tr.packages {
		for _, f := range p.files {
			for _, d := range f.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if !ok || fd.Body == nil {
					continue
				}
				n := cyclomatic(fd)
				if n > most {
					most, widest = n, p.path+"."+receiver(fd)+fd.Name.Name
				}
				lengths = append(lengths,
					tr.fset.Position(fd.End()).Line-tr.fset.Position(fd.Pos()).Line+1)
				branches = append(branches, n)
			}
		}
	}
	return fmt.Sprintf(
		"functions %d, lines p50/p90/p99/max %d/%d/%d/%d, cyclomatic p99/max %d/%d (%s)\n",
		len(all),
		percentile(lengths, 50), percentile(lengths, 90), percentile(lengths, 99),
		percentile(lengths, 100),
		percentile(branches, 99), percentile(branches, 100), widest)
}

// cyclomatic returns one more than the number of branches of a function.
func cyclomatic(fd *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fd, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// measureMethods prints the types with the most methods, and those with the most methods in reach
// without a qualifier: methods of embedded types count there.
func (tr *tree) measureMethods() string {
	type row struct {
		name       string
		own, reach int
	}
	var rows []row
	for _, p := range tr.packages {
		for _, name := range p.types.Scope().Names() {
			tn, ok := p.types.Scope().Lookup(name).(*types.TypeName)
			if !ok || tn.IsAlias() {
				continue
			}
			named, ok := tn.Type().(*types.Named)
			if !ok || types.IsInterface(named) {
				continue
			}
			rows = append(rows,
				row{p.path + "." + name, named.NumMethods(),
					types.NewMethodSet(types.NewPointer(named)).Len()})
		}
	}
	var b strings.Builder
	top := func(title string, n func(row) int) {
		slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(n(y), n(x)) })
		b.WriteString(title)
		for _, r := range rows[:min(10, len(rows))] {
			fmt.Fprintf(&b, " %s %d,", r.name, n(r))
		}
		b.WriteString("\n")
	}
	top("methods of a type:", func(r row) int { return r.own })
	top("in reach unqualified:", func(r row) int { return r.reach })
	return b.String()
}

// measureExports counts exported names: functions, types, variables, constants and methods, without
// fields. A use by a test does not count, nor does one of a method through an interface.
func (tr *tree) measureExports() string {
	within, outside := map[types.Object]bool{}, map[types.Object]bool{}
	for _, p := range tr.packages {
		for _, obj := range p.info.Uses {
			if f, ok := obj.(*types.Func); ok {
				obj = f.Origin()
			}
			if obj.Pkg() == p.types {
				within[obj] = true
			} else {
				outside[obj] = true
			}
		}
	}
	var total, used, inside, neither int
	count := func(obj types.Object) {
		if !obj.Exported() {
			return
		}
		total++
		switch {
		case outside[obj]:
			used++
		case within[obj]:
			inside++
		default:
			neither++
		}
	}
	for _, p := range tr.packages {
		if p.types.Name() == "main" {
			continue
		}
		scope := p.types.Scope()
		for _, name := range scope.Names() {
			obj := scope.Lookup(name)
			count(obj)
			if named, ok := obj.Type().(*types.Named); ok && named.Obj() == obj {
				for m := range named.Methods() {
					count(m)
				}
			}
		}
	}
	return fmt.Sprintf(
		"exported names %d: used by other packages %d, only inside their own %d, in no code but "+
			"tests or through an interface %d\n",
		total, used, inside, neither)
}

// measureWalks prints the length of each walk twice: with packages as rooms, and with files.
func (tr *tree) measureWalks(t *testing.T, all map[*types.Func]*function, page string) string {
	t.Helper()
	level, calls := levels(all)
	between, upward := 0, 0
	for from, to := range calls {
		for callee, n := range to {
			between += n
			if level[callee] < level[from] {
				upward += n
			}
		}
	}
	file := func(f *function) string { return f.file }
	aboveFile := func(callee, caller *function) bool {
		if callee.pkg != caller.pkg {
			return abovePackage(callee, caller)
		}
		return level[callee.file] < level[caller.file]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "calls between files of one package %d, of these up %d\n", between, upward)
	for _, w := range readWalks(t, page) {
		n, m := w.measure(t, all, packageRoom, abovePackage), w.measure(t, all, file, aboveFile)
		fmt.Fprintf(&b,
			"walk of %-8s %2d functions; packages: entered %2d times, %2d different, climbs %d; "+
				"files: entered %2d times, %2d different, climbs %d\n",
			w.name, n.functions, n.entered, n.distinct, n.climbs, m.entered, m.distinct, m.climbs)
		for _, up := range m.up {
			fmt.Fprintf(&b, "    climbs %s\n", up)
		}
	}
	return b.String()
}

// levels orders the files of each package so that few calls go up, and returns each file's place
// and the calls between files. The file with the most calls out, and the fewest in, comes first.
func levels(all map[*types.Func]*function) (level map[string]int, calls map[string]map[string]int) {
	calls = map[string]map[string]int{}
	files := map[*pkg]map[string]bool{}
	for _, f := range all {
		if files[f.pkg] == nil {
			files[f.pkg] = map[string]bool{}
		}
		files[f.pkg][f.file] = true
		for _, c := range f.calls {
			if g := all[c]; g != nil && g.pkg == f.pkg && g.file != f.file {
				if calls[f.file] == nil {
					calls[f.file] = map[string]int{}
				}
				calls[f.file][g.file]++
			}
		}
	}
	level = map[string]int{}
	for _, set := range files {
		left := slices.Sorted(maps.Keys(set))
		for place := 0; len(left) > 0; place++ {
			weight := func(f string) (n int) {
				for _, g := range left {
					n += calls[f][g] - calls[g][f]
				}
				return n
			}
			first := slices.MaxFunc(left,
				func(p, q string) int { return cmp.Compare(weight(p), weight(q)) })
			level[first] = place
			left = slices.DeleteFunc(left, func(f string) bool { return f == first })
		}
	}
	return level, calls
}
