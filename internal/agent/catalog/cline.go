package catalog

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/cline"
	"github.com/gemini-ctx/ctx/internal/identity"
)

// tasksIn lists the tasks of an extension of VS Code, or of an editor that is made of it.
func tasksIn(home, extension string, only func(file string) bool) (list []Begun) {
	for _, dir := range inCode("globalStorage/" + extension) {
		files := transcripts(filepath.Join(home, filepath.FromSlash(dir)),
			"tasks/*/api_conversation_history.json")
		list = append(list, begunEach(files, only, begunInTask)...)
	}
	return list
}

// begunInTask looks for the directory in what the extension tells the model with the first prompt.
func begunInTask(file string) identity.Session {
	return identity.Session{Dir: cline.Dir(beginning(file, maxSettings))}
}

// nameOfTask returns the task, which is the directory's name.
func nameOfTask(path string) string {
	if Plain(filepath.Base(path)) != "api_conversation_history.json" {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}
