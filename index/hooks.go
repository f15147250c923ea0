package index

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// CursorName is the file that says how far a transcript has been read.
func CursorName(path string) string { return hookFile("cursor-", path) }

// GivenName is the file with what hooks have added to the prompts of a session.
func GivenName(session string) string { return hookFile("given-", session) }

// HookName is the file that says when the last hook of an agent ran.
func HookName(agent string) string { return "hook-" + agent }

func hookFile(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:12])
}

// DropHooks removes what hooks have left that nobody has written since a time: of transcripts that are gone, and sessions that are over.
func (c *Cache) DropHooks(since time.Time) {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, f := range list {
		if name := f.Name(); !strings.HasPrefix(name, "cursor-") && !strings.HasPrefix(name, "given-") {
			continue
		}
		if info, err := f.Info(); err == nil && info.ModTime().Before(since) {
			_ = c.fs.RemoveHint(filepath.Join(c.dir, f.Name())) // it is tried again
		}
	}
}
