// Package storedir deals with a store's directory as a whole: it copies, removes and counts it, and
// finds the files that interrupted commands left in it and beside it.
//
// Begin with leftovers.go, which says how such files are named.
package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// Leftover is the age from which a leftover file may be removed: no write takes so long.
const Leftover = time.Hour

// Leftovers returns the temporary files in the store, and the directories beside it that an
// unfinished destroy, repair or unbundle left, that are older than before. Every file in tmp/ is
// temporary, whatever its name.
func Leftovers(s *store.Opened, before time.Time) ([]string, error) {
	dirs := append([]string{s.Dir, filepath.Dir(s.Dir)}, objects.Folders(s.Dir)...)
	for _, name := range []string{"refs", "cache", "log", "tmp"} {
		dirs = append(dirs, filepath.Join(s.Dir, name))
	}
	var left []string
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			ours := durable.IsTemp(f.Name())
			switch dir {
			case filepath.Dir(s.Dir):
				// Other programs have temporary files there
				ours = strings.HasPrefix(f.Name(), AsidePrefix) || ownTemp(f)
			case filepath.Join(s.Dir, "tmp"):
				ours = true
			}
			info, err := f.Info()
			if err == nil && ours && info.ModTime().Before(before) {
				left = append(left, filepath.Join(dir, f.Name()))
			}
		}
	}
	return left, nil
}

// ownTemp reports whether a file in a directory that is not a store's is a temporary one of ours.
func ownTemp(f fs.DirEntry) bool {
	return f.Type().IsRegular() && strings.HasPrefix(f.Name(), durable.OwnPrefix)
}

// SweepBeside removes this program's temporary files older than before from a directory of the
// user's. Files that cannot be removed stay.
func SweepBeside(fsys *durable.FS, dir string, before time.Time) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return // who writes there says why
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && ownTemp(f) && info.ModTime().Before(before) {
			_ = fsys.RemoveNoSync(filepath.Join(dir, f.Name()))
		}
	}
}

// AsidePrefix begins the name of a directory beside the store's place that holds an unfinished
// store, or one about to be removed.
const AsidePrefix = durable.TempPrefix + "context-"

// DropAsides removes the directories of whole stores that interrupted commands left beside this
// one. An unbundle or a dry repair that is using such a directory fails.
func DropAsides(s *store.Opened) error {
	dir := filepath.Dir(s.Dir)
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), AsidePrefix) {
			if err := RemoveTree(s.FS, filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveTree removes a file, or a directory with all its files, durably. A path that does not
// exist is no error.
func RemoveTree(fsys *durable.FS, path string) error {
	if err := RemoveAll(fsys, path); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

func RemoveAll(fsys *durable.FS, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		files, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := RemoveAll(fsys, filepath.Join(path, f.Name())); err != nil {
				return err
			}
		}
	}
	if err = fsys.Remove(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
