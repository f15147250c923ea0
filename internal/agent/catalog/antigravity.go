package catalog

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Antigravity keeps a directory for each conversation; that of the editor is beside that of the
// command line.
const (
	antigravityLogs = "/.system_generated/logs/"
	antigravityFull = "transcript_full.jsonl"
)

func discoverAntigravity(root string, p Project) (list, _ []string) {
	ours := map[string]bool{} // conversations of the project, as far as the history of prompts says
	told := map[string]bool{} // those that the history names
	for _, file := range glob(root, "antigravity*/history.jsonl") {
		heads(file, func(o jsonvalue.Object) bool {
			if id := o.Text("conversationId"); id != "" && o.Text("workspace") != "" {
				told[id] = true
				ours[id] = ours[id] || p.has(o.Text("workspace"))
			}
			return true
		})
	}
	for _, name := range []string{antigravityFull, "transcript.jsonl"} {
		for _, file := range glob(root, "antigravity*/brain/*"+antigravityLogs+name) {
			if name != antigravityFull &&
				slices.Contains(list, filepath.Join(filepath.Dir(file), antigravityFull)) {
				continue // the same with its long texts cut
			}
			id := nameOfAntigravity(file)
			if ours[id] || !told[id] && p.has(workedIn(file)) {
				list = append(list, file)
			}
		}
	}
	return list, nil
}

// workedIn returns the directory in which the first command of a conversation ran; "" for none.
func workedIn(file string) (dir string) {
	heads(file, func(o jsonvalue.Object) bool {
		calls, _ := o.Array("tool_calls")
		for _, raw := range calls {
			args := jsonvalue.AsObject(raw).Object("args")
			if plain, _, ok := transcript.Decoded(args); ok {
				args = plain
			}
			if dir == "" {
				dir = args.Text("Cwd")
			}
		}
		return dir == ""
	})
	return dir
}

// nameOfAntigravity returns the conversation that a file belongs to, by its directory.
func nameOfAntigravity(path string) string {
	before, _, ok := strings.Cut(filepath.ToSlash(path), antigravityLogs)
	if !ok {
		return ""
	}
	return before[strings.LastIndexByte(before, '/')+1:]
}
