package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatModel: each row of the table in docs/threat-model.md names tests, and they are there.
func TestThreatModel(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "threat-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page),
		"| what is promised | where it is tested |\n|---|---|\n")
	if !ok {
		t.Fatal("no table")
	}
	named, rows := regexp.MustCompile("`([^`]+)`"), 0
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, "|\n"), " | ")
		if len(cells) != 2 {
			t.Errorf("not a row of two cells: %q", row)
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(cells[1], -1)
		if len(tests) == 0 {
			t.Errorf("no test: %s", cells[0])
		}
		for _, m := range tests {
			if !testIsThere(t, root, m[1]) {
				t.Errorf("%q: no test %s", strings.TrimSpace(cells[0]), m[1])
			}
		}
	}
	if rows < 30 {
		t.Errorf("only %d rows", rows)
	}
}

// testIsThere looks for a script, or for package.TestName among the tests of the packages whose
// path ends so.
func testIsThere(t *testing.T, root, name string) bool {
	t.Helper()
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join(root, "testscript", name))
		return err == nil
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return false
	}
	pkg, function := "/"+name[:dot], []byte("\nfunc "+name[dot+1:]+"(")
	found := false
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || found || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		if dir := filepath.ToSlash(filepath.Dir(path)); !strings.HasSuffix(dir, pkg) {
			return nil
		}
		b, err := os.ReadFile(path)
		found = bytes.Contains(b, function)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestParsersAreFuzzed: everything that is read from elsewhere has a fuzz target. Who adds a reader
// adds a line.
func TestParsersAreFuzzed(t *testing.T) {
	for what, targets := range map[string]string{
		"objects": "format.FuzzDecodeEntry format.FuzzDecodeBlob " +
			"format.FuzzDecodeNode format.FuzzDecodeSummary format.FuzzDecodeTombstone " +
			"format.FuzzDecodePage format.FuzzDecodeForest format.FuzzDecodeEpoch",
		"edits and bodies": "format.FuzzDecodeMask format.FuzzDecodeReplace " +
			"format.FuzzDecodeRaw",
		"the log and refs": "format.FuzzDecodeOperation format.FuzzDecodePayload " +
			"format.FuzzDecodeCheckpoint format.FuzzParseValue format.FuzzDecodeAbsent " +
			"format.FuzzDecodeStoreFormat",
		"dense log segments":   "refs.FuzzDenseSegment",
		"packs":                "pack.FuzzDecode pack.FuzzWalk pack.FuzzOpenIndex",
		"names, ids and times": "format.FuzzDecodeName format.FuzzParseID format.FuzzParseTime",
		"links of fsck, gc":    "format.FuzzDecodeObject",
		"bundles":              "bundle.FuzzReadBundle",
		"revisions":            "clusters.FuzzResolve",
		"claims":               "summaries.FuzzParseClaim edits.FuzzReplaceClaim",
		"--jsonl": "cli/jsonl.FuzzReadLine jsonvalue.FuzzMembers " +
			"cmd/ctx.FuzzReadAnswer cli/jsonl.FuzzLoopLine epoch.FuzzRead epoch.FuzzReadMessages",
		"--batch": "cmd/ctx.FuzzReadRev",
		"queries": "search.FuzzParse",
		"transcripts": "agent/geminicli.FuzzRead agent/geminicli.FuzzReadOn " +
			"agent/geminicli.FuzzCheckpoint agent.FuzzClaudeCode agent.FuzzClaudeCodeOn " +
			"agent.FuzzCodex agent.FuzzCodexOn agent.FuzzOpencode agent.FuzzJSONL",
		"ADK events":          "agent/adk.FuzzRead agent/adk.FuzzOwn",
		"union-find JSON":     "forestfile.FuzzDecode",
		"hooks":               "hooks.FuzzReadEvent",
		"an agent's settings": "hooks/settings.FuzzInstall repo.FuzzAgentStrategy",
		"settings":            "repo.FuzzParseConfig repo.FuzzParseDuration",
		"tools of ctx-mcp": "cmd/ctx-mcp.FuzzArguments cmd/ctx-mcp.FuzzCursor " +
			"cmd/ctx-mcp.FuzzClean",
		"helpers' lines": "summarizer.FuzzDecodeAnswer summarizer.FuzzDecodeCapability " +
			"summarizer.FuzzClean summarizer/model.FuzzServe summarizer/model.FuzzStatusError",
		"encrypted remotes": "sealed.FuzzDecodeGroup sealed.FuzzDecodePin sealed.FuzzOpenFile " +
			"sealed.FuzzOpenName sealed.FuzzUnpack",
		"remote helpers": "remote/helper.FuzzServe remote/helper.FuzzClient",
		"health":         "summarizer.FuzzHealthFile",
		"calls that edit": "blame/replay.FuzzChanges blame/replay.FuzzScript " +
			"blame/replay.FuzzPatch blame/replay.FuzzPairs gitfile.FuzzOutput",
		"parts of messages": "internal/message.FuzzParse view.FuzzParts mask.FuzzReplace",
		"states and caches": "loop.FuzzState search.FuzzSegment varint.FuzzCode " +
			"forest/score.FuzzDecodeCandidates forest/score.FuzzDecodeFeatures " +
			"forest/summarize.FuzzDecode dag.FuzzTokens",
		"who has the lock": "lock.FuzzOwner",
		"what is cleaned":  "sanitize.FuzzText sanitize.FuzzJSON sanitize.FuzzFind",
		"corpora":          "eval/corpus.FuzzRead",
	} {
		for target := range strings.FieldsSeq(targets) {
			if !fuzzIsThere(t, target) {
				t.Errorf("%s: no target %s", what, target)
			}
		}
	}
}

func fuzzIsThere(t *testing.T, name string) bool {
	t.Helper()
	return testIsThere(t, filepath.Join("..", ".."), name)
}
