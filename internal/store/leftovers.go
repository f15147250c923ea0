package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/objects"
)

// Leftover is the age from which a leftover file may be removed: no write takes so long.
const Leftover = time.Hour

// Leftovers returns the temporary files in the store, and the directories beside it that an
// unfinished destroy, repair or unbundle left, that are older than before. Every file in tmp/ is
// temporary, whatever its name.
func Leftovers(s *Opened, before time.Time) ([]string, error) {
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

// agentSettings is the name of the agent's settings, which are beside the store. `ctx install`
// replaces them and keeps a backup beside them.
const agentSettings = "settings.json"

// ownTemp reports whether a file in a directory that is not a store's is a temporary one of ours.
func ownTemp(f fs.DirEntry) bool {
	name := f.Name()
	return f.Type().IsRegular() && (strings.HasPrefix(name, durable.OwnPrefix) ||
		durable.IsTempOf(name, agentSettings) ||
		durable.IsTempOf(name, agentSettings+".before-ctx"))
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
func DropAsides(s *Opened) error {
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

// Counts is how much of everything a store has. Sizes are bytes of files.
type Counts struct {
	Packs         int    `json:"packs"`
	PackedObjects int    `json:"packed_objects"` // an object in two packs counts twice
	PackBytes     int64  `json:"pack_bytes"`
	Carried       int    `json:"carried"` // objects in records of the log
	Refs          int    `json:"refs"`
	Operation     uint64 `json:"operation"` // the number of the newest one
	// Operations after the checkpoint, which every reader reads
	Since      int   `json:"since_checkpoint"`
	LogBytes   int64 `json:"log_bytes"` // of the kept segments
	CacheBytes int64 `json:"cache_bytes"`
	Absent     int   `json:"forgotten"` // bodies that were forgotten
}

// Count looks at names, sizes and pack indexes; it reads no object. What is written meanwhile may
// be counted or not.
func Count(s *Opened) (Counts, error) {
	var c Counts
	packs, err := s.Objects.Packs()
	if err != nil {
		return c, err
	}
	for _, p := range packs {
		c.Packs++
		c.PackedObjects += p.Objects
		c.PackBytes += p.Size
	}
	view, err := s.Refs.Read()
	if err != nil {
		return c, err
	}
	c.Carried = len(s.Objects.Logged())
	c.Refs, c.Operation, c.Since = len(view.Names("")), view.Number, len(view.Since)
	if c.LogBytes, err = sizeOf(filepath.Join(s.Dir, "refs"), "log-"); err != nil {
		return c, err
	}
	if c.CacheBytes, err = sizeOf(filepath.Join(s.Dir, "cache"), ""); err != nil {
		return c, err
	}
	return c, s.Objects.EachAbsent(func(format.ID, string) error { c.Absent++; return nil })
}

// sizeOf adds up the files in a directory whose names begin with prefix.
func sizeOf(dir, prefix string) (n int64, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().IsRegular() &&
			strings.HasPrefix(f.Name(), prefix) {
			n += info.Size()
		}
	}
	return n, err
}

// Destroy removes a store with all that was ever said in it. Under the lock the directory first
// takes another name beside its place, for good, and is then emptied: a crash leaves the store as
// it was, or no store, and a directory that the next destroy, or the gc of a new store in the same
// place, clears away. s must not be used afterwards.
func Destroy(ctx context.Context, s *Opened) error {
	aside := filepath.Join(filepath.Dir(s.Dir), AsidePrefix+s.ID)
	held, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(s.Close(), RemoveTree(s.FS, aside))
	if err == nil {
		err = s.FS.Rename(s.Dir, aside)
	}
	release := held.Release()
	if err != nil && release == nil {
		// Some systems do not rename a directory while a file in it is open, and the lock is one.
		err = s.FS.Rename(s.Dir, aside)
	}
	if err == nil {
		err = s.FS.SyncDir(filepath.Dir(aside))
	}
	if err == nil {
		err = RemoveTree(s.FS, aside)
	}
	if err != nil {
		return fmt.Errorf("cannot remove store %q: %w", s.Dir, err)
	}
	return release
}
