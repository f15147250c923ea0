package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
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

func discoverCursor(root string, p Project) (list, _ []string) {
	for _, project := range p {
		for _, slug := range slugsOfCursor(project) {
			dir := filepath.Join(root, "projects", slug, "agent-transcripts")
			for _, pattern := range []string{"*.jsonl", "*/*.jsonl", "*/subagents/*.jsonl"} {
				for _, file := range glob(dir, pattern) {
					if !slices.Contains(list, file) {
						list = append(list, file)
					}
				}
			}
		}
	}
	return list, nil
}

// fileOfCursor returns the file of a session: that of the CLI, or that of the editor if it is
// there.
func fileOfCursor(root, dir, id string) (file string) {
	for _, project := range NewProject(dir) {
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
