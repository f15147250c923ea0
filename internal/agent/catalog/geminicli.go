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
func sessionsOfGemini(root string) (list []Begun) {
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
	tmp := filepath.Join(root, "tmp")
	for _, name := range namesIn(tmp) {
		folder := filepath.Join(tmp, name)
		of := Begun{Session: identity.Session{Dir: owner[name]}, Folder: folder, Exact: true,
			Fits: func(dir string) bool { return geminicli.ProjectHash(dir) == name }}
		if b, err := durable.ReadAtMost(filepath.Join(folder, ".project_root"),
			maxSettings); err == nil && len(b) > 0 {
			of.Dir = strings.TrimSpace(string(b))
		}
		for _, pattern := range []string{"chats/session-*.jsonl", "chats/session-*.json",
			"chats/*/*.jsonl", "checkpoint-*.json"} {
			files := glob(folder, pattern)
			for _, file := range files {
				if strings.HasSuffix(file, ".json") && slices.Contains(files, file+"l") {
					continue // it went on in another form
				}
				one := of
				one.File = file
				list = append(list, one)
			}
		}
	}
	return list
}
