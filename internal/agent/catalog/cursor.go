package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
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
	folders := map[string]*Folder{}
	for _, file := range inFolders(filepath.Join(root, "projects"), "agent-transcripts/*.jsonl",
		"agent-transcripts/*/*.jsonl", "agent-transcripts/*/subagents/*.jsonl",
		"agent-transcripts/*.txt", "agent-transcripts/*/*.txt") {
		lines, isText := strings.CutSuffix(file, ".txt")
		if _, err := os.Stat(lines + ".jsonl"); isText && err == nil {
			continue // a newer version went on in the form of today
		}
		if wanted(only, file) {
			list = append(list, ofCursor(file, folders))
		}
	}
	return list
}

// ofCursor asks the calls in a transcript which project it is of: no record names the directory.
func ofCursor(file string, folders map[string]*Folder) Begun {
	path, _, _ := strings.Cut(file, string(filepath.Separator)+"agent-transcripts")
	f := folders[path]
	if f == nil {
		f = newFolder(path, slugsOfCursor, trustedByCursor(path))
		folders[path] = f
	}
	b := Begun{File: file, Folder: f}
	b.Named = pathsThatFit(file, f.fits, workOfCursor, func(found []string) bool {
		return len(found) > 1 || slices.Equal(found, f.There())
	})
	if len(b.Named) == 1 {
		b.Dir = b.Named[0]
	}
	return b
}

// parentOfCursor returns the session that one of a subagent works for.
func parentOfCursor(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "subagents" {
		return ""
	}
	return filepath.Base(filepath.Dir(dir))
}

// begunInCursor says nothing where several directories have a folder of this name: the hook is told
// which one it is.
func begunInCursor(file string) identity.Session {
	b := ofCursor(file, map[string]*Folder{})
	there := b.Folder.There()
	switch {
	case len(there) > 1:
		b.Dir = ""
	case b.Dir == "" && len(b.Named) == 0 && len(there) == 1:
		b.Dir = there[0]
	}
	return b.Session
}

// workOfCursor returns what of a record shows where the agent works: its calls, and what Cursor
// says of the workspace. The words of the person and of the model may be about any project.
func workOfCursor(o jsonvalue.Object) string {
	var work strings.Builder
	blocks, _ := o.Object("message").Array("content")
	for _, raw := range blocks {
		b := jsonvalue.AsObject(raw)
		if b.Text("type") == "tool_use" {
			work.Write(b["input"])
		}
		_, info, _ := strings.Cut(b.Text("text"), "<user_info>")
		info, _, _ = strings.Cut(info, "</user_info>")
		work.WriteString(info + "\n")
	}
	return work.String()
}

// trustedByCursor returns the directory that a folder says it is of; "" if it does not.
func trustedByCursor(folder string) string {
	return document(filepath.Join(folder, ".workspace-trusted")).Text("workspacePath")
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
