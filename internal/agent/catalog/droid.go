package catalog

import (
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func discoverDroid(root string, p Project) ([]string, []string) {
	var files []string
	for _, pattern := range []string{"sessions/*/*.jsonl", "sessions/*.jsonl",
		"projects/*/*.jsonl"} {
		files = append(files, glob(root, pattern)...)
	}
	return p.inProject(files, func(o jsonvalue.Object) string {
		if o.Text("type") != "session_start" {
			return ""
		}
		return o.Text("cwd")
	}), nil
}
