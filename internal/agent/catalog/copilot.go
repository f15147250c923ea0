package catalog

import (
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func begunInCopilot(file string) identity.Session {
	return begunIn(file, `"cwd"`, func(o jsonvalue.Object) identity.Session {
		at := o.Object("data").Object("context")
		return identity.Session{Dir: at.Text("cwd"), Branch: at.Text("branch")}
	})
}

// nameOfCopilot returns the session that a file belongs to: its directory is named for it.
func nameOfCopilot(path string) string {
	name := filepath.Base(path) // a program that syncs folders puts another version beside it
	if !strings.HasPrefix(name, "events") || filepath.Ext(Plain(name)) != ".jsonl" {
		return ""
	}
	return filepath.Base(filepath.Dir(path))
}
