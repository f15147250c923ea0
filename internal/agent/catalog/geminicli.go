package catalog

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/durable"
)

func discoverGemini(root string, p Project) (list, _ []string) {
	b, err := durable.ReadAtMost(filepath.Join(root, "projects.json"), maxHead)
	var doc struct {
		Projects map[string]string `json:"projects"`
	}
	if err == nil {
		_ = json.Unmarshal(b, &doc) // a file that is damaged names nothing
	}
	var slugs []string // the names that the agent has, or had, for the project
	for _, project := range p {
		if slug := doc.Projects[project]; slug != "" && filepath.IsLocal(slug) {
			slugs = append(slugs, slug)
		}
		slugs = append(slugs, geminicli.ProjectHash(project))
	}
	for _, slug := range slugs {
		for _, pattern := range []string{"chats/session-*.jsonl", "chats/session-*.json",
			"chats/*/*.jsonl", "checkpoint-*.json"} {
			files := glob(filepath.Join(root, "tmp", slug), pattern)
			for _, file := range files {
				if strings.HasSuffix(file, ".json") && slices.Contains(files, file+"l") {
					continue // it went on in another form
				}
				list = append(list, file)
			}
		}
	}
	return list, nil
}

// placesOfGemini adds the directories that Gemini CLI has sessions of.
func placesOfGemini(root string, p *places) {
	b, err := durable.ReadAtMost(filepath.Join(root, "projects.json"), maxHead)
	var doc struct {
		Projects map[string]string `json:"projects"`
	}
	if err != nil || json.Unmarshal(b, &doc) != nil {
		return
	}
	for dir := range doc.Projects {
		p.add(dir, noRemote)
	}
}
