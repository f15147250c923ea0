package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// Every key of a document that a command prints is explained in docs/json.md.
func TestJSONKeys(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, pattern := range []string{"*.go", filepath.Join("..", "..", "document", "*.go")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, key := range jsonKeys(t, file) {
				keys++
				if !strings.Contains(string(page), "`"+key+"`") {
					t.Errorf("docs/json.md does not say what `%s` is, a key in %s", key, file)
				}
			}
		}
	}
	if keys < 300 {
		t.Errorf("only %d keys were found", keys)
	}
}

// jsonKeys returns the keys of the structs in a file, as their tags have them.
func jsonKeys(t *testing.T, file string) (keys []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			if key != "" && key != "-" {
				keys = append(keys, key)
			}
		}
		return true
	})
	return keys
}
