package catalog

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func discoverCopilot(root string, p Project) ([]string, []string) {
	files := append(glob(root, "session-state/*/events.jsonl"),
		glob(root, "session-state/*.jsonl")...)
	return p.inProject(files, func(o jsonvalue.Object) string {
		return o.Object("data").Object("context").Text("cwd")
	}), nil
}

// nameOfCopilot returns the session that a file belongs to: its directory is named for it.
func nameOfCopilot(path string) string {
	if filepath.Base(path) != "events.jsonl" {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}
