package catalog

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func sessionsOfCopilot(root string, only func(file string) bool) (list []Begun) {
	for _, file := range append(transcripts(root, "session-state/*/events.jsonl"),
		transcripts(root, "session-state/*.jsonl")...) {
		if wanted(only, file) {
			list = append(list, Begun{File: file, Session: begunInCopilot(file)})
		}
	}
	return list
}

func begunInCopilot(file string) identity.Session {
	return begunIn(file, `"cwd"`, func(o jsonvalue.Object) identity.Session {
		at := o.Object("data").Object("context")
		return identity.Session{Dir: at.Text("cwd"), Branch: at.Text("branch")}
	})
}

// nameOfCopilot returns the session that a file belongs to: its directory is named for it.
func nameOfCopilot(path string) string {
	if Plain(filepath.Base(path)) != "events.jsonl" {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}
