package repo

import (
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// agentIgnore is the file in a project's root that hides paths from the agent. Outside git it is
// the only such file that the agent reads.
const agentIgnore = ".geminiignore"

// maxIgnore limits how many bytes of it are read.
const maxIgnore = 1 << 20

// IgnoreAdvice returns the line that the user should add to .geminiignore in the project, so that
// the agent neither lists nor searches the store's files. It returns "" if there is nothing to do:
// in a git work tree the store's own .gitignore is enough. ctx never edits .geminiignore. A store
// that is not at .gemini/context of a project gets no advice.
func (r *Repo) IgnoreAdvice() string {
	project := ProjectOf(r.Dir)
	if project == "" || inGit(project) {
		return ""
	}
	line := agentName + "/" + storeName + "/"
	if b, err := durable.ReadAtMost(filepath.Join(project, agentIgnore), maxIgnore); err == nil &&
		ignores(string(b), line) {
		return ""
	}
	return line
}

// inGit reports whether dir or a directory above it has a .git, which is a file in a linked work
// tree.
func inGit(dir string) bool {
	for {
		if statOrNil(filepath.Join(dir, ".git")) != nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// ignores reports whether a line names the store or its directory. It does not understand other
// patterns that match the store: then the advice is repeated, which does no harm.
func ignores(text, store string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "/")
		line = strings.TrimSuffix(strings.TrimSuffix(line, "**"), "*")
		line = strings.TrimSuffix(line, "/") + "/"
		if line == store || line == agentName+"/" {
			return true
		}
	}
	return false
}
