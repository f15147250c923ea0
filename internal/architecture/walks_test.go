package architecture

import (
	"go/ast"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// walk is the main path of a command: its functions in the order in which they run, down to the
// last write or print.
type walk struct {
	name  string
	steps []string
}

// walkHeading begins the section of a walk; stepName is a function in it.
var (
	walkHeading = regexp.MustCompile("^### Walk of ([a-z]+)$")
	stepName    = regexp.MustCompile("`([a-z0-9/_-]+(?:\\.[A-Za-z0-9]+){1,2})`")
)

// readWalks reads the walks of a page. The steps are the functions that a section names, each once.
func readWalks(t *testing.T, path string) []walk {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []walk
	in := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if m := walkHeading.FindStringSubmatch(line); m != nil {
			list, in = append(list, walk{name: m[1]}), true
			continue
		}
		if strings.HasPrefix(line, "#") {
			in = false
		}
		if !in {
			continue
		}
		w := &list[len(list)-1]
		for _, m := range stepName.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(w.steps, m[1]) {
				w.steps = append(w.steps, m[1])
			}
		}
	}
	return list
}

// tally is the length of a walk: how often it enters a room, in how many rooms it is, and how often
// a function calls one that stands above it.
type tally struct {
	functions, entered, distinct, climbs int
	up                                   []string // the climbs
}

// measure follows a walk. room names the room of a function, and above tells whether the room of a
// callee stands above that of its caller.
func (w walk) measure(
	t *testing.T, all map[*types.Func]*function, room func(*function) string,
	above func(callee, caller *function) bool,
) tally {
	t.Helper()
	var n tally
	var past []*function
	rooms := map[string]bool{}
	for i, name := range w.steps {
		f, err := find(all, name)
		if err != nil {
			t.Errorf("walk of %s: %v", w.name, err)
			continue
		}
		if i > 0 {
			caller := latest(past, f)
			if caller == nil {
				t.Errorf("walk of %s: nothing before %s calls it", w.name, f.name)
				continue
			}
			if above(f, caller) {
				n.climbs++
				n.up = append(n.up, caller.name+" -> "+f.name)
			}
		}
		if len(past) == 0 || room(past[len(past)-1]) != room(f) {
			n.entered++
		}
		rooms[room(f)] = true
		past = append(past, f)
		n.functions++
	}
	n.distinct = len(rooms)
	return n
}

// latest returns the last of the functions that calls f, and nil if none does.
func latest(past []*function, f *function) *function {
	for i := len(past) - 1; i >= 0; i-- {
		if leadsTo(past[i], f) {
			return past[i]
		}
	}
	return nil
}

// packageRoom takes packages as rooms.
func packageRoom(f *function) string { return f.path }

// abovePackage reports whether the callee's package imports the caller's: only a callback or an
// interface leads there.
func abovePackage(callee, caller *function) bool { return callee.below[caller.path] }

// checkTransactions checks that a transaction exists only under the lock: a type Tx is built only
// in an argument of store.NewRoom, or by Locked in internal/store.
func (tr *tree) checkTransactions(t *testing.T) {
	t.Helper()
	for _, p := range tr.packages {
		for _, f := range p.files {
			for _, d := range f.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if ok && p.path == "internal/store" && fd.Name.Name == "Locked" {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && isNewRoom(call) {
						return false
					}
					lit, ok := n.(*ast.CompositeLit)
					if !ok {
						return true
					}
					if named, ok := p.info.TypeOf(lit).(*types.Named); ok &&
						named.Obj().Name() == "Tx" {
						t.Errorf("%s: a %s is built outside NewRoom and Locked",
							tr.fset.Position(lit.Pos()), named)
					}
					return true
				})
			}
		}
	}
}

// isNewRoom reports whether a call is one of store.NewRoom.
func isNewRoom(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "NewRoom" {
		return false
	}
	pkg, ok := f.X.(*ast.Ident)
	return ok && pkg.Name == "store"
}

// TestWalks checks the walks of docs/architecture.md: every function that they name exists, and a
// function before it calls it. It also checks where transactions are built.
func TestWalks(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the module")
	}
	walks := readWalks(t, "../../docs/architecture.md")
	if len(walks) != 6 {
		t.Errorf("the page has %d walks, not append, compact, expand, import, search and render",
			len(walks))
	}
	tr := load(t, "../..")
	all := tr.functions()
	tr.checkTransactions(t)
	for _, w := range walks {
		n := w.measure(t, all, packageRoom, abovePackage)
		if n.functions < 5 {
			t.Errorf("walk of %s has %d functions", w.name, n.functions)
		}
		for _, up := range n.up {
			t.Logf("walk of %s: climbs %s", w.name, up)
		}
	}
}
