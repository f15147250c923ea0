package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/objects"
)

// refuseLinks returns a *CorruptError if a part of a store that is written or swept is a link: it
// may lead to a file of the user's, or into another store. ctx creates no links; a link came with
// the project. What is only read may be a link.
func refuseLinks(dir string) error {
	for _, folder := range [...]string{"", objects.Dir, objects.AbsentDir} {
		path := filepath.Join(dir, folder)
		d, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // fsck reports it, and a writer that needs it creates it again
		}
		if err != nil {
			return err
		}
		entries, err := d.ReadDir(-1)
		if err := errors.Join(err, d.Close()); err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0 &&
				(folder != "" || isWritten(e.Name())) {
				return &CorruptError{Path: filepath.Join(path, e.Name()),
					Why: "a link, which could lead out of the store"}
			}
		}
	}
	return nil
}

// isWritten reports whether writers write to a name in a store's directory in place, rather than
// replace it by a rename.
func isWritten(name string) bool {
	switch name {
	case objects.Dir, "refs", objects.AbsentDir, "cache", "log", "tmp", "lock", "lock.owner":
		return true
	}
	return false
}
