package catalog

import (
	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/identity"
)

// begunInTask looks for the directory in what the extension tells the model with the first prompt.
func begunInTask(file string) identity.Session {
	return identity.Session{Dir: shape.TaskDir(beginning(file, maxSettings))}
}

// taskFile is the name of the transcript in the directory of a task.
const taskFile = "api_conversation_history.json"

// nameOfTask returns the task, which is the directory's name.
func nameOfTask(path string) string {
	if Plain(filepath.Base(path)) != taskFile {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}
