package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/edits/mask"
	"github.com/gemini-ctx/ctx/internal/forestfile"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/maintenance/bundle"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// results are the types that other packages return and commands print as they are.
func results() []any {
	return []any{
		fsck.Fault{}, repair.RebuildReport{}, bundle.Report{}, store.Counts{}, forget.Secret{},
		forget.SourceName{}, repo.Setting{}, conversation.Undone{}, summaries.Evicted{},
		clusters.Graduation{}, conversation.Appended{},
		edits.LostTarget{}, forestfile.Imported{}, importer.Drift{}, brief.Line{},
		summaries.Compaction{}, mask.Short{}, summarizer.Skip{}, recall.EpochKey{},
	}
}

// Every key of a document that a command prints is explained in docs/json.md.
func TestJSONKeys(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	say := func(list []string, where string) {
		for _, key := range list {
			keys++
			if !strings.Contains(string(page), "`"+key+"`") {
				t.Errorf("docs/json.md does not say what `%s` is, a key of %s", key, where)
			}
		}
	}
	for _, result := range results() {
		of := reflect.TypeOf(result)
		list := keysOf(of)
		if len(list) == 0 {
			t.Errorf("%v has no keys", of)
		}
		say(list, of.String())
	}
	for _, pattern := range []string{"*.go",
		filepath.Join("..", "..", "internal", "cli", "document", "*.go")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			say(jsonKeys(t, file), file)
		}
	}
	if keys < 300 {
		t.Errorf("only %d keys were found", keys)
	}
}

// keysOf returns the keys of a struct, as its tags have them, and those of the structs that it
// embeds.
func keysOf(of reflect.Type) (keys []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous {
			keys = append(keys, keysOf(field.Type)...)
		} else if key, _, _ := strings.Cut(field.Tag.Get("json"), ","); key != "" && key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}

// jsonKeys returns the keys of the structs in a file, as their tags have them, and those that are
// arguments of answer, document or fields.
func jsonKeys(t *testing.T, file string) (keys []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			name := ""
			switch fun := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = fun.Sel.Name
			case *ast.Ident:
				name = fun.Name
			}
			if slices.Contains([]string{"answer", "document", "fields"}, name) {
				keys = append(keys, pairKeys(call.Args)...)
			}
		}
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

// pairKeys returns the keys among the arguments. One that is no string literal is a value
// in the place of a pair.
func pairKeys(args []ast.Expr) (keys []string) {
	for i := 0; i < len(args); i++ {
		if key, ok := args[i].(*ast.BasicLit); ok && key.Kind == token.STRING {
			keys = append(keys, strings.Trim(key.Value, `"`))
			i++
		}
	}
	return keys
}
