package catalog

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/identity"
)

// sessionsOfGemini asks the agent's own list of its folders: no transcript names a directory. A
// folder that is not in it has the digest of one as its name, or says itself whose it is.
func sessionsOfGemini(root string, only func(file string) bool) (list []Begun) {
	owner := foldersOfGemini(root)
	tmp := filepath.Join(root, "tmp")
	for _, name := range namesIn(tmp) {
		folder := filepath.Join(tmp, name)
		of := Begun{Session: ofGeminiFolder(folder, owner), Folder: folder, Exact: true,
			Fits: func(dir string) bool { return geminicli.ProjectHash(dir) == name }}
		var files []string
		for _, pattern := range []string{"chats/session-*.jsonl", "chats/session-*.json",
			"chats/*/*.jsonl", "checkpoint-*.json"} {
			files = append(files, transcripts(folder, pattern)...)
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".json") && slices.Contains(files, file+"l") {
				continue // it went on in another form
			}
			if !wanted(only, file) {
				continue
			}
			one := of
			one.File = file
			list = append(list, one)
		}
	}
	return list
}

// foldersOfGemini returns the directory that each folder of the agent is of, by the agent's own
// list.
func foldersOfGemini(root string) map[string]string {
	b, err := durable.ReadAtMost(filepath.Join(root, "projects.json"), maxSettings)
	var doc struct {
		Projects map[string]string `json:"projects"`
	}
	if err == nil {
		_ = json.Unmarshal(b, &doc) // a file that is damaged names nothing
	}
	owner := map[string]string{}
	for dir, slug := range doc.Projects {
		if was, known := owner[slug]; !known || dir < was {
			owner[slug] = dir
		}
	}
	return owner
}

func ofGeminiFolder(folder string, owner map[string]string) identity.Session {
	b, err := durable.ReadAtMost(filepath.Join(folder, ".project_root"), maxSettings)
	if err == nil && len(b) > 0 {
		return identity.Session{Dir: strings.TrimSpace(string(b))}
	}
	return identity.Session{Dir: owner[filepath.Base(folder)]}
}

// begunInGemini asks the folder that a transcript is in: tmp/NAME below that of the agent.
func begunInGemini(file string) identity.Session {
	for at := filepath.Dir(file); at != filepath.Dir(at); at = filepath.Dir(at) {
		if tmp := filepath.Dir(at); filepath.Base(tmp) == "tmp" {
			return ofGeminiFolder(at, foldersOfGemini(filepath.Dir(tmp)))
		}
	}
	return identity.Session{}
}
