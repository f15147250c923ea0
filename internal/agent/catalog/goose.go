package catalog

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

func rootOfGoose(e Env) string {
	if root := e.Get("GOOSE_PATH_ROOT"); root != "" {
		return filepath.Join(root, "data")
	}
	return e.under("XDG_DATA_HOME", ".local/share", "goose")
}

// begunInGoose reads the first line, or an export whole.
func begunInGoose(file string) identity.Session {
	if filepath.Ext(Plain(file)) == ".json" {
		return identity.Session{Dir: document(file).Text("working_dir")}
	}
	return begunIn(file, `"working_dir"`, func(o jsonvalue.Object) identity.Session {
		return identity.Session{Dir: o.Text("working_dir")}
	})
}
