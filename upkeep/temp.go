package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/session"
)

// sweepTemp removes what writes left behind that were cut short, in the store's folders and beside the store.
func (c *collector) sweepTemp(context.Context) error {
	old := c.now.Add(-leftover)
	left, err := leftovers(c.s, old)
	if err != nil {
		return err
	}
	c.report.Temp = len(left)
	if c.o.DryRun {
		return nil
	}
	for _, path := range left {
		if err := removeTree(c.s.FS, path); err != nil {
			return err
		}
	}
	return nil
}

// leftovers returns temporary files, and directories beside the store that an unfinished destroy or unbundle left, older than before.
// What is in tmp/ is temporary whatever its name.
func leftovers(s *session.Store, before time.Time) ([]string, error) {
	dirs := []string{s.Dir, filepath.Dir(s.Dir)}
	for _, name := range []string{"refs", "cache", "log", "tmp", "absent", filepath.Join("objects", "pack")} {
		dirs = append(dirs, filepath.Join(s.Dir, name))
	}
	for i := range 256 {
		xx := hexByte(i)
		dirs = append(dirs, filepath.Join(s.Dir, "objects", xx), filepath.Join(s.Dir, "absent", xx))
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
			ours := strings.HasPrefix(f.Name(), lock.TempPrefix)
			switch dir {
			case filepath.Dir(s.Dir):
				ours = strings.HasPrefix(f.Name(), asidePrefix) || ownTemp(f) // other programs have temporary files there
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
	return f.Type().IsRegular() && strings.HasPrefix(f.Name(), lock.OwnPrefix)
}

// sweepBeside removes what writes of ours that were cut short left in a directory of the user's before a time. What cannot be removed stays.
func sweepBeside(fsys *lock.FS, dir string, before time.Time) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return // who writes there says why
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && ownTemp(f) && info.ModTime().Before(before) {
			_ = fsys.RemoveHint(filepath.Join(dir, f.Name()))
		}
	}
}

func hexByte(i int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[i>>4], digits[i&15]})
}

// asidePrefix begins the name of a store's directory, beside the store's place, that is not finished or about to go.
const asidePrefix = lock.TempPrefix + "context-"

// dropAsides removes what a command that was cut short left of whole stores beside this one. It takes away the ground under an unbundling or a dry repair that
// is at work there, which then fails.
func dropAsides(s *session.Store) error {
	dir := filepath.Dir(s.Dir)
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), asidePrefix) {
			if err := removeTree(s.FS, filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeTree removes a file or a directory with all in it, and makes that last. What is not there is removed already.
func removeTree(fsys *lock.FS, path string) error {
	if err := removeAll(fsys, path); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

func removeAll(fsys *lock.FS, path string) error {
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
			if err := removeAll(fsys, filepath.Join(path, f.Name())); err != nil {
				return err
			}
		}
	}
	err = fsys.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eachAbsent calls each for the files under absent/ whose names are ids, in order.
func eachAbsent(s *session.Store, each func(id format.ID, path string) error) error {
	for i := range 256 {
		xx := hexByte(i)
		dir := filepath.Join(s.Dir, "absent", xx)
		files, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			if id, err := format.ParseID(xx + f.Name()); err == nil {
				if err := each(id, filepath.Join(dir, f.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func absentIDs(s *session.Store) (map[format.ID]bool, error) {
	ids := map[format.ID]bool{}
	return ids, eachAbsent(s, func(id format.ID, _ string) error { ids[id] = true; return nil })
}
