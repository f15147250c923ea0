package catalog

import (
	"regexp"
	"testing"
)

// TestCheckpointNames: which files of a commit are transcripts, by their paths.
func TestCheckpointNames(t *testing.T) {
	const of, hex = ".entire/metadata/2026-03-03-s/", "ab/0123456789/"
	for path, is := range map[string]string{
		hex + "0/full.jsonl":                  "full",
		hex + "12/full.jsonl.001":             "full",
		hex + "full.jsonl":                    "full", // of the first versions
		hex + "tasks/toolu_1/agent-x.jsonl":   "agent-x",
		hex + "0/tasks/toolu_1/agent-x.jsonl": "agent-x",
		"0/full.jsonl":                        "full", // in a ref of its own
		of + "full.jsonl":                     "full",
		of + "tasks/t/agent-x.jsonl":          "agent-x",
		hex + "0/full.jsonl.1":                "",
		hex + "0/prompt.txt":                  "",
		hex + "0/assets/full.jsonl":           "",
		hex + "tasks/t/checkpoints/1.json":    "",
		"full.jsonl":                          "",
		"src/full.jsonl":                      "",
		"ab/full.jsonl":                       "",
		"src/" + hex + "full.jsonl":           "",
		".entire/full/full.jsonl":             "",
	} {
		got := ""
		if m := regexp.MustCompile(checkpointFile).FindStringSubmatch(path); m != nil {
			got = m[3]
		}
		if got != is {
			t.Errorf("%s: %q", path, got)
		}
	}
}
