package catalog

import (
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
)

// folderOfDroid knows that old versions have no folders.
func folderOfDroid(file string) *Folder {
	dir := filepath.Dir(file)
	if filepath.Base(dir) == "sessions" {
		return nil
	}
	return newFolder(dir, oneName(claudecode.Slug))
}
