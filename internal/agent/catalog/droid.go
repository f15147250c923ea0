package catalog

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// ofStart is what the first record of a session says.
func ofStart(o jsonvalue.Object) identity.Session {
	if o.Text("type") != "session_start" {
		return identity.Session{}
	}
	return identity.Session{Dir: o.Text("cwd")}
}

func begunInDroid(file string) identity.Session { return begunIn(file, `"cwd"`, ofStart) }

func sessionsOfDroid(root string, only func(file string) bool) (list []Begun) {
	add := func(file, folder string) {
		if !wanted(only, file) {
			return
		}
		b := Begun{File: file, Session: begunInDroid(file)}
		if folder != "" {
			b.Folder = newFolder(folder, oneName(claudecode.Slug))
		}
		list = append(list, b)
	}
	for _, dir := range []string{"sessions", "projects"} {
		for _, file := range inFolders(filepath.Join(root, dir), "*.jsonl") {
			add(file, filepath.Dir(file))
		}
	}
	for _, file := range transcripts(root, "sessions/*.jsonl") {
		add(file, "")
	}
	return list
}
