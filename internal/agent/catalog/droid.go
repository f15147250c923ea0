package catalog

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// ofStart is what the first record of a session says.
func ofStart(o jsonvalue.Object) identity.Session {
	if o.Text("type") != "session_start" {
		return identity.Session{}
	}
	return identity.Session{Dir: o.Text("cwd")}
}

func begunInDroid(file string) identity.Session { return begunIn(file, `"cwd"`, ofStart) }

// folderOfDroid knows that old versions have no folders.
func folderOfDroid(file string) *Folder {
	dir := filepath.Dir(file)
	if filepath.Base(dir) == "sessions" {
		return nil
	}
	return newFolder(dir, oneName(claudecode.Slug))
}
