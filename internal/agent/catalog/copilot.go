package catalog

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// begunInCopilot reads the directory that the start of a session names, or what was resumed later:
// a compaction may leave a file without its start. The hooks are told it, too.
func begunInCopilot(file string) identity.Session {
	return begunIn(file, `"cwd"`, func(o jsonvalue.Object) identity.Session {
		data := o.Object("data")
		at := data.Object("context")
		return identity.Session{Dir: cmp.Or(at.Text("cwd"), data.Object("input").Text("cwd")),
			Branch: at.Text("branch")}
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
