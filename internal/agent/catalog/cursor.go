package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// slugsOfCursor returns the names that Cursor may have for the directory of a project: without the
// slash at the beginning, with - for every other character, or for each run of them.
func slugsOfCursor(dir string) []string {
	slug := strings.TrimLeft(claudecode.Slug(dir), "-")
	short := slug
	for strings.Contains(short, "--") {
		short = strings.ReplaceAll(short, "--", "-")
	}
	return slices.Compact([]string{slug, short})
}

func sessionsOfCursor(root string, only func(file string) bool) (list []Begun) {
	for _, file := range inFolders(filepath.Join(root, "projects"), "agent-transcripts/*.jsonl",
		"agent-transcripts/*/*.jsonl", "agent-transcripts/*/subagents/*.jsonl") {
		if wanted(only, file) {
			list = append(list, ofCursor(file))
		}
	}
	return list
}

// ofCursor asks the folder of a project which one it is of, where it says so, and else the paths in
// the transcript: no record names the directory.
func ofCursor(file string) Begun {
	folder, _, _ := strings.Cut(file, string(filepath.Separator)+"agent-transcripts")
	name := filepath.Base(folder)
	b := Begun{File: file, Folder: folder,
		Fits: func(dir string) bool { return slices.Contains(slugsOfCursor(dir), name) }}
	if dir := trustedByCursor(b.Folder); b.Fits(dir) {
		b.Dir = dir
	} else {
		b.Dir = pathThatFits(file, b.Fits)
	}
	return b
}

func begunInCursor(file string) identity.Session { return ofCursor(file).Session }

// trustedByCursor returns the directory that a folder says it is of; "" if it does not.
func trustedByCursor(folder string) string {
	b, err := durable.ReadAtMost(filepath.Join(folder, ".workspace-trusted"), maxSettings)
	if err != nil {
		return ""
	}
	return jsonvalue.AsObject(b).Text("workspacePath")
}

// maxPath is the longest path that is looked for.
const maxPath = 1 << 10

// pathThatFits returns a directory that fits and that an absolute path in a file is, or is in; ""
// if there is none.
func pathThatFits(file string, fits func(dir string) bool) (dir string) {
	headsOf(file, "/", func(o jsonvalue.Object) bool {
		text := string(jsonvalue.Encode(o))
		for at := 0; at < len(text) && dir == ""; at++ {
			if text[at] == '/' && !isName(text[at-1]) { // the text begins with a brace
				dir = prefixThatFits(text[at:min(len(text), at+maxPath)], fits)
			}
		}
		return dir == ""
	})
	return dir
}

func prefixThatFits(path string, fits func(dir string) bool) string {
	for end := 1; end < len(path); end++ {
		if (path[end] == '/' || !isName(path[end])) && fits(path[:end]) {
			return path[:end]
		}
		if path[end] == '"' || path[end] == '\\' {
			return ""
		}
	}
	return ""
}

// isName reports whether a byte is one of a name in a path that needs no quotes.
func isName(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 ||
		strings.IndexByte("/._-+@~", c) >= 0
}

// fileOfCursor returns the file of a session: that of the CLI, or that of the editor if it is
// there.
func fileOfCursor(root, dir, id string) (file string) {
	for _, project := range spellings(dir) {
		for _, slug := range slugsOfCursor(project) {
			logs := filepath.Join(root, "projects", slug, "agent-transcripts")
			for _, path := range []string{filepath.Join(logs, id+".jsonl"),
				filepath.Join(logs, id, id+".jsonl")} {
				if _, err := os.Stat(path); err == nil || file == "" {
					file = path
				}
			}
		}
	}
	return file
}

// spellings returns a directory as it is given, and without links.
func spellings(dir string) []string {
	list := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != list[0] {
		list = append(list, real)
	}
	return list
}
