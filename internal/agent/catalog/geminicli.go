package catalog

import (
	"crypto/sha256"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// sessionsOfGemini asks the agent's own list of its folders: no transcript names a directory. A
// folder that is not in it has the digest of one as its name, or says itself whose it is.
func sessionsOfGemini(root string, only func(file string) bool) (list []Begun) {
	owner := foldersOfGemini(root)
	tmp := filepath.Join(root, "tmp")
	for _, name := range namesIn(tmp) {
		folder := filepath.Join(tmp, name)
		of := Begun{Session: ofGeminiFolder(folder, owner)}
		of.Folder = &Folder{Path: folder, Exact: true,
			fits: func(dir string) bool { return geminicli.ProjectHash(dir) == name }}
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
			if of.Dir == "" && len(name) == sha256.Size*2 {
				of.Dir = firstThatFits(file, of.Folder)
			}
			of.File = file
			list = append(list, of)
		}
	}
	return list
}

// parentOfGemini returns the session whose subagents have their transcripts in the directory of a
// file: chats/SESSION/AGENT.jsonl. The call that began one may have no result.
func parentOfGemini(file string) string {
	dir := filepath.Dir(file)
	if filepath.Base(filepath.Dir(dir)) != "chats" {
		return ""
	}
	return filepath.Base(dir)
}

// firstThatFits returns the first directory that a transcript has a path in, and whose digest is
// the name of the folder; "" if there is none.
func firstThatFits(file string, f *Folder) string {
	one := func([]string) bool { return true }
	for _, dir := range pathsThatFit(file, f.fits,
		func(o jsonvalue.Object) string { return string(jsonvalue.Encode(o)) }, one) {
		return dir
	}
	return ""
}

// foldersOfGemini returns the directory that each folder of the agent is of, by the agent's own
// list.
func foldersOfGemini(root string) map[string]string {
	projects := document(filepath.Join(root, "projects.json")).Object("projects")
	owner := map[string]string{}
	for dir := range projects {
		slug := projects.Text(dir)
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
