package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
)

func rootOfQwen(e Env) string {
	if dir := e.Get("QWEN_RUNTIME_DIR"); dir != "" {
		return dir
	}
	return e.under("QWEN_HOME", ".qwen", "")
}

func folderOfQwen(file string) *Folder {
	return newFolder(filepath.Dir(filepath.Dir(file)), oneName(slugOfQwen))
}

// slugOfQwen returns the name of the directory of a project. On Windows it has no capitals.
func slugOfQwen(dir string) string {
	if os.PathSeparator == '\\' {
		dir = strings.ToLower(dir)
	}
	return claudecode.Slug(dir)
}

func placeQwen(root, id, dir, _ string) (string, error) {
	slug := slugOfQwen(dir)
	if len(slug) > 255 {
		return "",
			fmt.Errorf("cannot tell where qwen keeps the sessions of %q: the path is too long", dir)
	}
	return filepath.Join(root, "projects", slug, "chats", id+".jsonl"), nil
}
