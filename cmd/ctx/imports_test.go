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

// layers says which packages of this module each package may import. A package that is not here may
// not exist: the architecture is what is written down in docs/architecture.md.
var layers = map[string]string{
	"internal/varint":            "",
	"internal/script":            "",
	"format":                     "internal/varint internal/lists",
	"format/pack":                "internal/varint format",
	"format/share":               "format internal/lists",
	"forest":                     "format internal/lists",
	"internal/terms":             "internal/lists",
	"forest/score":               "internal/varint internal/terms",
	"forest/summarize":           "format internal/terms internal/lists",
	"internal/jsonvalue":         "",
	"internal/bigstack":          "",
	"internal/lists":             "",
	"internal/durable":           "internal/lists",
	"internal/identity":          "internal/durable",
	"internal/architecture":      "",
	"internal/pasted":            "",
	"internal/prose":             "forest/summarize internal/terms",
	"internal/sanitize/controls": "",
	"internal/message":           "internal/jsonvalue internal/sanitize/controls",
	"internal/agent/transcript":  "format internal/jsonvalue internal/message internal/lists",
	"internal/agent/adk": "format internal/jsonvalue internal/message internal/agent/transcript " +
		"internal/lists",
	"internal/agent/shape": "internal/jsonvalue internal/agent/transcript internal/message " +
		"format internal/lists",
	"internal/agent/claudecode": "format internal/jsonvalue internal/agent/transcript " +
		"internal/lists",
	"internal/agent/codex": "format internal/jsonvalue internal/agent/transcript internal/lists",
	"internal/agent/markdown": "internal/jsonvalue internal/agent/transcript " +
		"internal/agent/claudecode",
	"internal/agent/geminicli": "format internal/jsonvalue internal/message " +
		"internal/agent/transcript internal/lists",
	"internal/agent/opencode": "internal/jsonvalue internal/message internal/agent/transcript " +
		"internal/lists",
	"internal/cache":            "format internal/durable internal/varint",
	"internal/history/dag":      "format internal/jsonvalue internal/lists",
	"internal/hooks/settings":   "internal/lists",
	"lock":                      "internal/durable",
	"objects":                   "format format/pack internal/durable lock internal/lists",
	"refs":                      "format format/pack internal/durable internal/lists lock",
	"internal/sanitize/chars":   "",
	"internal/sanitize/tokens":  "internal/sanitize/chars",
	"internal/sanitize/secrets": "internal/sanitize/chars internal/sanitize/tokens",
	"sanitize": "internal/jsonvalue internal/sanitize/chars internal/sanitize/controls " +
		"internal/sanitize/secrets internal/sanitize/tokens",
	"internal/repo": "format internal/jsonvalue internal/durable internal/identity " +
		"internal/hooks/settings lock objects refs sanitize internal/lists",
	"internal/epochs/epoch": "format internal/jsonvalue internal/message sanitize " +
		"internal/lists",
	"internal/history": "internal/jsonvalue internal/varint format forest forest/score " +
		"internal/message internal/durable internal/cache internal/history/dag objects refs " +
		"internal/repo internal/lists",
	"internal/store": "format forest internal/durable lock objects refs sanitize " +
		"internal/repo internal/history internal/lists",
	"internal/state": "format refs sanitize internal/history internal/store internal/lists",
	"internal/clusters": "format forest forest/score forest/summarize internal/lists " +
		"internal/cache internal/history/dag objects refs internal/repo internal/history " +
		"internal/store",
	"internal/conversation/loop": "internal/jsonvalue sanitize",
	"internal/wording":           "format forest/summarize sanitize internal/terms",
	"internal/edits/mask":        "format internal/jsonvalue internal/message",
	"internal/search":            "internal/varint format internal/terms internal/lists",
	"internal/blame/replay":      "internal/script internal/lists",
	"internal/digest": "internal/script internal/blame/replay internal/varint format " +
		"internal/terms forest/summarize internal/pasted internal/message internal/prose internal/lists",
	"internal/brief": "format internal/terms forest/summarize internal/digest " +
		"internal/message internal/pasted internal/prose internal/lists internal/jsonvalue",
	"internal/view": "format forest/summarize internal/jsonvalue internal/message " +
		"internal/digest internal/brief internal/pasted sanitize internal/epochs/epoch " +
		"internal/prose internal/lists",
	"internal/summaries": "format internal/history internal/lists forest forest/summarize " +
		"internal/message internal/digest objects refs internal/view internal/store " +
		"internal/clusters internal/wording",
	"internal/epochs": "format objects refs internal/epochs/epoch internal/view " +
		"internal/history internal/store internal/lists",
	"internal/conversation": "internal/script format forest forest/score forest/summarize " +
		"internal/jsonvalue internal/lists internal/message internal/cache objects refs sanitize " +
		"internal/history internal/store internal/clusters internal/conversation/loop " +
		"internal/edits/mask internal/digest internal/summaries internal/epochs",
	"internal/edits": "format forest/summarize objects refs sanitize internal/view " +
		"internal/history internal/summaries internal/store internal/clusters internal/epochs " +
		"internal/wording internal/edits/mask internal/cache internal/lists internal/jsonvalue",
	"internal/outcome": "format internal/digest internal/script internal/terms internal/lists",
	"internal/blame": "internal/lists format internal/message internal/digest objects " +
		"refs internal/history internal/blame/replay",
	"internal/compaction": "format forest forest/summarize refs internal/history internal/store " +
		"internal/clusters internal/epochs internal/summaries internal/conversation " +
		"internal/lists",
	"internal/maintenance/graph": "format forest objects refs internal/store internal/lists",
	"internal/maintenance/gc": "format forest internal/durable lock objects refs " +
		"internal/store internal/maintenance/graph internal/lists",
	"internal/maintenance/fsck": "format forest internal/durable objects refs internal/repo " +
		"internal/history internal/store internal/maintenance/graph internal/lists",
	"internal/maintenance/bundle": "format internal/durable objects internal/repo " +
		"internal/store internal/maintenance/graph internal/maintenance/fsck internal/lists",
	"internal/cli/environ": "lock internal/repo",
	"internal/child":       "sanitize",
	"internal/summarizer": "format forest/summarize internal/child internal/durable " +
		"internal/wording internal/lists",
	"internal/remote":        "internal/durable lock",
	"internal/remote/git":    "internal/durable internal/remote lock internal/lists",
	"internal/remote/helper": "internal/child internal/remote internal/lists",
	"internal/remote/sealed": "format format/share internal/jsonvalue internal/durable lock " +
		"internal/cli/environ internal/remote internal/remote/git internal/remote/helper",
	"internal/bench":       "",
	"internal/e2e":         "",
	"internal/eval/corpus": "",
	"internal/eval/stats":  "",
	"internal/eval":        "*",
	"internal/maintenance/forget": "format internal/jsonvalue internal/message objects sanitize " +
		"internal/history internal/store internal/clusters internal/maintenance/graph " +
		"internal/lists",
	"internal/sharing": "format format/share forest internal/epochs internal/cache objects refs " +
		"sanitize internal/history internal/store internal/maintenance/forget internal/remote " +
		"internal/sanitize/controls internal/lists",
	"internal/maintenance/repair": "format forest lock objects refs internal/repo " +
		"internal/history internal/store internal/state internal/maintenance/graph " +
		"internal/maintenance/fsck internal/lists",
	"internal/summarizer/model": "forest/summarize internal/child internal/summarizer " +
		"internal/durable",
	"internal/when": "",
	"internal/sessions": "format internal/agent/transcript internal/brief internal/cache " +
		"internal/clusters internal/digest internal/history internal/message " +
		"internal/prose internal/search internal/summaries internal/varint refs internal/lists",
	"internal/find": "format forest/summarize internal/jsonvalue internal/lists internal/prose " +
		"internal/message internal/agent/transcript internal/cache objects refs sanitize " +
		"internal/history internal/clusters internal/search internal/digest internal/brief " +
		"internal/summaries internal/outcome internal/script internal/sessions",
	"internal/recall": "format forest forest/summarize internal/digest internal/brief " +
		"internal/cache objects refs internal/view internal/history internal/clusters " +
		"internal/epochs internal/summaries internal/edits internal/search internal/when " +
		"internal/find internal/sessions internal/lists",
	"internal/gitfile": "",
	"internal/agent/catalog": "format internal/identity internal/jsonvalue " +
		"internal/agent/transcript internal/agent/adk internal/agent/shape " +
		"internal/agent/claudecode internal/agent/codex internal/agent/geminicli " +
		"internal/agent/opencode internal/agent/markdown internal/child internal/durable " +
		"internal/gitfile internal/hooks/settings internal/lists",
	"internal/usage": "format internal/message objects refs internal/history " +
		"internal/blame/replay internal/recall internal/repo internal/jsonvalue " +
		"internal/agent/transcript internal/agent/catalog internal/when internal/sessions",
	"internal/exporter": "format internal/jsonvalue internal/agent/transcript " +
		"internal/agent/adk refs internal/history internal/state internal/edits",
	"internal/importer": "format internal/jsonvalue internal/lists " +
		"internal/agent/transcript internal/agent/adk internal/cache objects refs sanitize " +
		"internal/history internal/store internal/state internal/clusters internal/edits/mask " +
		"internal/epochs internal/conversation internal/edits internal/agent/catalog " +
		"internal/exporter",
	"internal/forestfile": "format forest forest/summarize internal/jsonvalue internal/cache " +
		"objects refs sanitize internal/history internal/store internal/clusters " +
		"internal/epochs internal/conversation internal/lists",
	"internal/session": "refs sanitize internal/repo internal/store internal/state " +
		"internal/clusters internal/summaries internal/epochs internal/conversation " +
		"internal/edits internal/blame internal/compaction internal/recall internal/exporter " +
		"internal/importer internal/forestfile",
	"internal/hooks": "format internal/terms internal/outcome forest/summarize internal/repo " +
		"internal/agent/transcript internal/agent/catalog internal/agent/shape " +
		"internal/agent/claudecode internal/agent/codex internal/agent/geminicli " +
		"internal/agent/opencode internal/bigstack internal/brief internal/durable " +
		"internal/cache internal/hooks/settings internal/pasted refs sanitize internal/varint " +
		"internal/view internal/history internal/summaries internal/search internal/compaction " +
		"internal/importer internal/identity internal/jsonvalue internal/session " +
		"internal/maintenance/gc internal/store internal/find internal/lists",
	"internal/cli/document": "format internal/view internal/history internal/blame " +
		"internal/gitfile internal/clusters internal/recall internal/session internal/find " +
		"internal/sessions",
	"internal/cli/command": "format lock objects refs sanitize internal/repo " +
		"internal/epochs/epoch internal/history internal/clusters internal/maintenance/graph " +
		"internal/maintenance/bundle internal/cli/environ internal/summarizer internal/remote " +
		"internal/sharing internal/maintenance/repair internal/session",
	"internal/blame/whose": "refs internal/blame internal/blame/replay internal/cli/command " +
		"internal/gitfile internal/history internal/identity internal/session internal/lists",
	"internal/cli/jsonl": "format internal/jsonvalue sanitize internal/history " +
		"internal/conversation/loop internal/conversation internal/session internal/cli/command " +
		"internal/lists",
	"internal/page": "format forest/summarize internal/digest internal/jsonvalue " +
		"internal/message objects refs sanitize internal/sanitize/controls internal/view " +
		"internal/brief internal/history internal/store internal/clusters internal/epochs " +
		"internal/recall internal/session internal/sessions internal/lists internal/summaries",
	"internal/page/live": "format internal/jsonvalue internal/page refs internal/repo " +
		"internal/history internal/session internal/cli/command internal/cli/environ " +
		"internal/lists",
	"internal/browse": "format internal/digest internal/jsonvalue internal/message refs " +
		"sanitize internal/repo internal/history internal/clusters internal/recall " +
		"internal/session internal/cli/document internal/cli/command internal/cli/environ " +
		"internal/find internal/sessions",
	"cmd/ctx":        "*",
	"packaging/site": "",
	"cmd/ctx-browse": "internal/browse",
	"cmd/ctx-eval":   "internal/eval",
	"cmd/ctx-mcp": "internal/varint format internal/message objects refs sanitize " +
		"internal/repo internal/history internal/search internal/brief internal/view " +
		"internal/conversation internal/blame internal/cli/environ internal/when " +
		"internal/sessions internal/find internal/recall internal/session internal/cli/document " +
		"internal/cli/command internal/blame/whose",
	"cmd/ctx-import-sqlite":        "internal/lists",
	"cmd/ctx-remote-age":           "internal/remote/sealed",
	"cmd/ctx-remote-postgres":      "internal/remote internal/remote/helper internal/lists",
	"cmd/ctx-remote-s3":            "internal/remote internal/remote/helper internal/lists",
	"cmd/ctx-summarize-agent":      "internal/summarizer/model",
	"cmd/ctx-summarize-gemini":     "internal/summarizer internal/summarizer/model",
	"cmd/ctx-summarize-openai":     "internal/summarizer internal/summarizer/model",
	"cmd/ctx-view-serve":           "internal/page/live",
	"internal/agent":               "",
	"internal/durable/durabletest": "internal/durable",
	"internal/faults":              "lock",
	"internal/faults/kernel":       "",
	"internal/faults/oracle":       "",
	"internal/faults/rot":          "",
	"internal/faults/storm":        "",
	"internal/homes":               "",
	"internal/storetest": "format forest forest/summarize internal/durable lock objects refs " +
		"internal/repo internal/history internal/clusters internal/view internal/summaries " +
		"internal/conversation internal/edits internal/compaction internal/recall " +
		"internal/session internal/durable/durabletest",
	"internal/maintenance/kit": "format forest internal/durable objects refs sanitize " +
		"internal/epochs/epoch internal/history internal/clusters internal/epochs " +
		"internal/summaries internal/conversation internal/recall internal/compaction " +
		"internal/session internal/maintenance/gc internal/maintenance/fsck " +
		"internal/maintenance/forget internal/storetest",
	"internal/storetest/thirds":  "",
	"internal/remote/remotetest": "internal/remote",
}

// libraries says which packages may use a library. Each has one user, or one place where it is
// dealt with.
var libraries = map[string]string{
	"github.com/gofrs/flock":                   "lock",
	"github.com/google/renameio/v2":            "internal/durable",
	"github.com/rogpeppe/go-internal/robustio": "internal/durable",
	"github.com/rogpeppe/go-internal/diff":     "internal/hooks",
	"github.com/klauspost/compress/zstd": "format/pack objects internal/agent/catalog " +
		"internal/cache cmd/ctx-import-sqlite",
	"modernc.org/sqlite":                     "cmd/ctx-import-sqlite",
	"github.com/BurntSushi/toml":             "internal/repo internal/hooks",
	"github.com/clipperhouse/displaywidth":   "cmd/ctx internal/browse",
	"github.com/clipperhouse/uax29/v2/words": "internal/terms internal/browse",
	"github.com/blevesearch/snowballstem":    "internal/terms internal/search",
	"golang.org/x/text/unicode/norm":         "internal/search",
	"github.com/go-json-experiment/json": "internal/message internal/epochs/epoch " +
		"internal/jsonvalue",
	"github.com/tailscale/hujson":  "internal/hooks/settings",
	"filippo.io/age":               "internal/remote/sealed",
	"filippo.io/age/agessh":        "internal/remote/sealed",
	"github.com/jackc/pgx/v5":      "cmd/ctx-remote-postgres",
	"github.com/minio/minio-go/v7": "cmd/ctx-remote-s3",
	"charm.land/bubbletea/v2":      "internal/browse",
	"github.com/yuin/goldmark":     "packaging/site",
	"github.com/spf13/cobra": "cmd/ctx internal/cli/command " +
		"internal/eval internal/browse",
	"github.com/spf13/pflag":                 "cmd/ctx internal/cli/command",
	"github.com/modelcontextprotocol/go-sdk": "cmd/ctx-mcp",
	"golang.org/x/crypto/ssh":                "internal/remote/sealed",
	"golang.org/x/sys": "lock internal/repo objects internal/summarizer " +
		"internal/cli/environ",
}

const module = "github.com/gemini-ctx/ctx/"

func TestImportsGoOneWay(t *testing.T) {
	imports := map[string]map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() &&
			(strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata") {
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
	checkFloors(t, imports)
}

// floors is the most packages that may stand in a chain of imports, from a program down.
const floors = 16

// checkFloors reports a longer chain: a reader who follows a call passes all of it.
func checkFloors(t *testing.T, imports map[string]map[string]bool) {
	t.Helper()
	chains := map[string][]string{}
	var chain func(pkg string) []string
	chain = func(pkg string) []string {
		if known, ok := chains[pkg]; ok {
			return known
		}
		var below []string
		for _, name := range slices.Sorted(maps.Keys(imports[pkg])) {
			if own, ok := strings.CutPrefix(name, module); ok && len(chain(own)) > len(below) {
				below = chain(own)
			}
		}
		chains[pkg] = append([]string{pkg}, below...)
		return chains[pkg]
	}
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		if c := chain(pkg); len(c) > floors {
			t.Errorf("%d floors, %d are the most: %s", len(c), floors, strings.Join(c, " > "))
		}
	}
}

func checkImport(t *testing.T, pkg, allowed, name string) {
	t.Helper()
	if own, ok := strings.CutPrefix(name, module); ok {
		measures := own == "internal/eval" || strings.HasPrefix(own, "internal/eval/")
		if allowed != "*" && !slices.Contains(strings.Fields(allowed), own) ||
			pkg == "cmd/ctx" && measures {
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
