package repo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// refuseLinks returns a *CorruptError where a part of a store that is written to, or swept, is a link: it may lead to what is the user's, or to
// another store. ctx makes none; one that is there came with a project. What is read only may be a link.
func refuseLinks(dir string) error {
	for _, folder := range [...]string{"", "objects", "absent"} {
		path := filepath.Join(dir, folder)
		d, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // fsck tells of it, and where it is needed it is made again
		}
		if err != nil {
			return err
		}
		entries, err := d.ReadDir(-1)
		if err := errors.Join(err, d.Close()); err != nil {
			return err
		}
		for _, e := range entries {
			if e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0 && (folder != "" || isWritten(e.Name())) {
				return &CorruptError{Path: filepath.Join(path, e.Name()), Why: "a link, which could lead out of the store"}
			}
		}
	}
	return nil
}

// isWritten reports whether a name in a store's directory is one that writers use as it is, and do not replace by a rename.
func isWritten(name string) bool {
	switch name {
	case "objects", "refs", "absent", "cache", "log", "tmp", "lock", "lock.owner":
		return true
	}
	return false
}
