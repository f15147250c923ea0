package format_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryFuzzTargetHasSeeds checks that no seed corpus is missing; a fuzz target passes without
// one.
func TestEveryFuzzTargetHasSeeds(t *testing.T) {
	targets := fuzzTargets(t)
	if len(targets) == 0 {
		t.Fatal("no fuzz targets found")
	}
	for target := range targets {
		seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", target, "*"))
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s has no seed in testdata/fuzz", target)
		}
	}
	dirs, err := os.ReadDir(filepath.Join("testdata", "fuzz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if !targets[d.Name()] {
			t.Errorf("testdata/fuzz/%s belongs to no target", d.Name())
		}
	}
}

// fuzzTargets returns the names of the fuzz functions among the tests of the package.
func fuzzTargets(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil &&
				strings.HasPrefix(fn.Name.Name, "Fuzz") {
				targets[fn.Name.Name] = true
			}
		}
	}
	return targets
}
