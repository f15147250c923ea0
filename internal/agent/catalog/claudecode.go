package catalog

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
)

// standardClaude is the directory of Claude Code below the home directory.
const standardClaude = ".claude"

func rootOfClaude(e Env) string { return e.under("CLAUDE_CONFIG_DIR", standardClaude, "") }

func sessionsOfClaude(root string, only func(file string) bool) (list []Begun) {
	roots := []string{root}
	if filepath.Base(root) == standardClaude { // some versions keep them elsewhere
		roots = append(roots, filepath.Join(filepath.Dir(root), ".config", "claude"))
	}
	var folders []string
	for _, root := range roots {
		projects := filepath.Join(root, "projects")
		for _, name := range namesIn(projects) {
			folders = append(folders, filepath.Join(projects, name))
		}
	}
	var subs []Begun
	for _, folder := range folders {
		of := newFolder(folder, oneName(claudecode.Slug))
		for _, entry := range unpacked(namesIn(folder)) {
			path := filepath.Join(folder, entry)
			if !strings.HasSuffix(Plain(entry), ".jsonl") {
				subs = append(subs, subagentsOfClaude(path, only)...)
				continue
			}
			if !wanted(only, path) {
				continue
			}
			b := Begun{File: path, Session: begunByCwd(path), Folder: of}
			if isSubagent(entry) {
				subs = append(subs, b)
			} else {
				list = append(list, b)
			}
		}
	}
	return append(list, subs...)
}

// subagentsOfClaude returns the transcripts of the subagents of a session, which are in a directory
// beside that of the session.
func subagentsOfClaude(dir string, only func(file string) bool) (list []Begun) {
	for _, pattern := range []string{"subagents/*.jsonl", "subagents/workflows/*/agent-*.jsonl"} {
		for _, file := range transcripts(dir, pattern) {
			if wanted(only, file) {
				list = append(list, Begun{File: file, Session: begunByCwd(file),
					Parent: dir + ".jsonl"})
			}
		}
	}
	return list
}

func isSubagent(file string) bool { return strings.HasPrefix(filepath.Base(file), "agent-") }

func placeClaude(root, id, dir, _ string) (string, error) {
	slug := claudecode.Slug(dir)
	if len(slug) > claudecode.MaxSlug {
		return "",
			fmt.Errorf(
				"cannot tell where claude-code keeps the sessions of %q: the path is too long", dir)
	}
	return filepath.Join(root, "projects", slug, id+".jsonl"), nil
}
