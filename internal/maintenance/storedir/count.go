package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/store"
)

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
func Count(s *store.Opened) (Counts, error) {
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
