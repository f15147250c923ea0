package catalog

import (
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Antigravity keeps a directory for each conversation; that of the editor is beside that of the
// command line.
const (
	antigravityLogs = "/.system_generated/logs/"
	antigravityFull = "transcript_full.jsonl"
)

// sessionsOfAntigravity asks the history of prompts where a conversation began, or else its first
// command.
func sessionsOfAntigravity(root string, only func(file string) bool) (list []Begun) {
	began := map[string]string{}
	for _, file := range glob(root, "antigravity*/history.jsonl") {
		promptsOfAntigravity(file, began)
	}
	seen := map[string]bool{}
	for _, name := range []string{antigravityFull, "transcript.jsonl"} {
		for _, file := range glob(root, "antigravity*/brain/*"+antigravityLogs+name) {
			if seen[filepath.Dir(file)] || !wanted(only, file) {
				continue // the same with its long texts cut
			}
			seen[filepath.Dir(file)] = true
			list = append(list, Begun{File: file, Session: ofAntigravity(file, began)})
		}
	}
	return list
}

// promptsOfAntigravity reads where conversations began, by their names, from the history of
// prompts.
func promptsOfAntigravity(history string, began map[string]string) {
	headsOf(history, "workspace", func(o jsonvalue.Object) bool {
		if id := o.Text("conversationId"); id != "" && began[id] == "" {
			began[id] = o.Text("workspace")
		}
		return true
	})
}

func ofAntigravity(file string, began map[string]string) identity.Session {
	if dir := began[nameOfAntigravity(file)]; dir != "" {
		return identity.Session{Dir: dir}
	}
	return identity.Session{Dir: workedIn(file)}
}

func begunInAntigravity(file string) identity.Session {
	began := map[string]string{}
	if brain, _, ok := strings.Cut(filepath.ToSlash(file), "/brain/"); ok {
		promptsOfAntigravity(filepath.Join(brain, "history.jsonl"), began)
	}
	return ofAntigravity(file, began)
}

// workedIn returns the directory in which the first command of a conversation ran; "" for none.
func workedIn(file string) (dir string) {
	headsOf(file, "Cwd", func(o jsonvalue.Object) bool {
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
