package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// CursorName is the name of the file that records how far a transcript has been read.
func CursorName(path string) string { return hookFile("cursor-", path) }

// ImportName is the name of the file that records what an import made of a transcript.
func ImportName(transcript string) string { return hookFile("import-", transcript) }

// DriftName is the file with the kinds of record that no reader of transcripts knows.
const DriftName = "drift"

// GivenName is the name of the file with the text that hooks have added to the prompts of a
// session.
func GivenName(session string) string { return hookFile("given-", session) }

// HookName is the name of the file that records when the last hook of an agent ran.
func HookName(agent string) string { return "hook-" + agent }

func hookFile(prefix, name string) string {
	sum := sha256.Sum256([]byte(name))
	return prefix + hex.EncodeToString(sum[:12])
}

// DropHooks removes files of hooks and imports that were not written since a time, because their
// transcripts are gone or their sessions are over.
func (c *Cache) DropHooks(since time.Time) {
	list, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, f := range list {
		if name := f.Name(); !strings.HasPrefix(name, "cursor-") &&
			!strings.HasPrefix(name, "given-") && !strings.HasPrefix(name, "import-") {
			continue
		}
		if info, err := f.Info(); err == nil && info.ModTime().Before(since) {
			_ = c.fs.RemoveNoSync(filepath.Join(c.dir, f.Name())) // the next call tries again
		}
	}
}
