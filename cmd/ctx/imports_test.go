package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers says which packages of this module each package may import. A package that is not here may not exist: the architecture is what is
// written down in docs/architecture.md.
var layers = map[string]string{
	"format":           "",
	"lock":             "",
	"sanitize":         "",
	"internal/message": "",
	"agent/geminicli":  "format internal/message agent/transcript",
	"forest/terms":     "format",
	"forest/summarize": "format forest/terms",
	"forest/score":     "format forest/terms",
	"forest":           "format forest/terms forest/summarize forest/score",
	"search":           "format forest/terms",
	"internal/wording": "format forest/summarize sanitize",
	"summarizer":       "format lock forest/summarize sanitize internal/wording",
	"summarizer/model": "format forest/summarize summarizer",
	"agent/unionfind":  "format",
	"agent/adk":        "format internal/message agent/transcript",
	"agent/transcript": "format internal/message",
	"agent/claudecode": "format agent/transcript",
	"agent/codex":      "format agent/transcript",
	"agent/opencode":   "agent/transcript",
	"agent/plain":      "format internal/message agent/transcript",

	"agent/transcript/transcripttest": "agent/transcript format",

	"internal/digest": "format forest/summarize forest/terms",
	"internal/brief":  "format forest/summarize forest/terms internal/digest",

	"internal/when":    "",
	"eval/corpus":      "",
	"eval/transcripts": "eval/corpus",
	"eval":             "*",
	"objects":          "format lock",
	"refs":             "format lock objects",
	"index":            "format lock",
	"repo":             "format lock objects refs sanitize",
	"session/dag":      "format",
	"session/mask":     "format internal/message",
	"session/window":   "format",
	"session/loop":     "sanitize",
	"session/epoch":    "format internal/message sanitize",
	"session/view":     "format internal/message internal/brief internal/digest forest/summarize sanitize session/epoch",
	"session":          "format lock sanitize objects refs index repo internal/message internal/digest internal/brief internal/wording forest forest/terms forest/score forest/summarize search session/dag session/mask session/window session/loop session/epoch session/view agent/geminicli agent/unionfind agent/adk agent/transcript agent/claudecode agent/codex agent/opencode",
	"upkeep":           "format lock sanitize objects refs index repo forest forest/summarize session",
	"document":         "capture format refs session session/view",
	"machine":          "lock repo",
	"failure":          "format lock objects refs repo sanitize session session/epoch upkeep",
	"capture/settings": "",
	"capture":          "format lock sanitize index search forest/terms forest/summarize agent/geminicli session session/view refs upkeep capture/settings",
	"cmd/ctx":          "*",

	// For tests alone.
	"lock/locktest":  "lock",
	"faults":         "",
	"faults/kit":     "format lock objects refs repo session session/epoch session/view upkeep",
	"faults/golden":  "",
	"faults/kernel":  "",
	"faults/program": "",
	"faults/rot":     "",
	"faults/storm":   "",

	"cmd/ctx-mcp": "document failure format machine objects refs repo session session/view",

	"summarizer/printmode":     "lock summarizer summarizer/model",
	"cmd/ctx-summarize-agent":  "summarizer/printmode",
	"cmd/ctx-summarize-gemini": "format forest/summarize summarizer summarizer/model summarizer/printmode",
	"cmd/ctx-summarize-openai": "format forest/summarize summarizer summarizer/model",
}

// libraries says which packages may use a library. Each has one user, or one place where it is dealt with.
var libraries = map[string]string{
	"github.com/gofrs/flock":                   "lock",
	"github.com/rogpeppe/go-internal/robustio": "lock",
	"github.com/klauspost/compress/zstd":       "objects",
	"github.com/BurntSushi/toml":               "repo",
	"github.com/clipperhouse/displaywidth":     "cmd/ctx",
	"github.com/clipperhouse/uax29/v2/words":   "forest/terms",
	"github.com/blevesearch/snowballstem":      "forest/terms",
	"github.com/go-json-experiment/json":       "internal/message",
	"github.com/spf13/cobra":                   "cmd/ctx",
	"github.com/spf13/pflag":                   "cmd/ctx",
	"github.com/modelcontextprotocol/go-sdk":   "cmd/ctx-mcp",
	"golang.org/x/sys":                         "lock repo objects summarizer cmd/ctx",
}

const module = "github.com/gemini-ctx/ctx/"

func TestImportsGoOneWay(t *testing.T) {
	imports := map[string]map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		if imports[rel] == nil {
			imports[rel] = map[string]bool{}
		}
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imports[rel][name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < 10 {
		t.Fatalf("found %d packages", len(imports))
	}
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		allowed, known := layers[pkg]
		if !known {
			t.Errorf("package %s has no place in the layers", pkg)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(imports[pkg])) {
			checkImport(t, pkg, allowed, name)
		}
	}
}

func checkImport(t *testing.T, pkg, allowed, name string) {
	t.Helper()
	if own, ok := strings.CutPrefix(name, module); ok {
		if allowed != "*" && !slices.Contains(strings.Fields(allowed), own) {
			t.Errorf("%s may not import %s", pkg, own)
		}
		return
	}
	if !strings.Contains(name, ".") {
		return // the standard library
	}
	for library, users := range libraries {
		if name == library || strings.HasPrefix(name, library+"/") {
			if !slices.Contains(strings.Fields(users), pkg) {
				t.Errorf("%s may not use %s", pkg, name)
			}
			return
		}
	}
	t.Errorf("%s uses %s, which no package is said to use", pkg, name)
}
