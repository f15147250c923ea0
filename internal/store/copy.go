package store

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/objects"
)

// CopyTree copies the files of a store, but for unfinished ones and what is no file.
func CopyTree(ctx context.Context, fsys *durable.FS, from, to string) error {
	if err := fsys.MkdirAll(filepath.Dir(to)); err != nil {
		return err
	}
	if err := MakeFolders(fsys, to); err != nil {
		return err
	}
	x := NewExtractor(ctx, fsys, to)
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, path)
		if err = errors.Join(err, relErr); err != nil || path == from {
			return err
		}
		if d.IsDir() {
			if rel == "tmp" {
				return fs.SkipDir
			}
			return nil
		}
		if durable.IsTemp(d.Name()) {
			return nil
		}
		f, err := durable.Open(path)
		if errors.Is(err, durable.ErrNotFile) || errors.Is(err, fs.ErrNotExist) {
			return nil // it holds nothing
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			err = x.File(filepath.ToSlash(rel), info.Size(), f)
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	return x.Flush()
}

// MakeFolders makes the folders of a store.
func MakeFolders(fsys *durable.FS, dir string) error {
	for _, name := range []string{"", objects.AbsentDir, "cache", "log", "refs", "tmp"} {
		if err := fsys.Mkdir(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return objects.Init(dir, fsys)
}

func NewExtractor(ctx context.Context, fsys *durable.FS, dir string) *extractor {
	return &extractor{ctx: ctx, fs: fsys, dir: dir}
}

// extractor writes the files of a bundle, small ones many at a time.
type extractor struct {
	ctx   context.Context
	fs    *durable.FS
	dir   string
	files []durable.File
	bytes int64
}

// The most that is kept in memory before it is written.
const (
	extractFiles = 256
	extractBytes = 32 << 20
)

func (x *extractor) File(name string, size int64, from io.Reader) error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	path := filepath.Join(x.dir, filepath.FromSlash(name))
	if err := x.fs.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	if size > extractBytes {
		return x.large(path, from)
	}
	data, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	x.files = append(x.files, durable.File{Path: path, Data: data, Perm: 0o600})
	if x.bytes += size; len(x.files) >= extractFiles || x.bytes >= extractBytes {
		return x.Flush()
	}
	return nil
}

func (x *extractor) Flush() error {
	files := x.files
	x.files, x.bytes = nil, 0
	if len(files) == 0 {
		return nil
	}
	return x.fs.WriteFiles(files, true)
}

func (x *extractor) large(path string, from io.Reader) error {
	temp := x.fs.NewTemp(filepath.Dir(path))
	defer temp.Discard()
	out := bufio.NewWriterSize(temp, 1<<20)
	if _, err := io.Copy(out, from); err != nil {
		return err
	}
	for _, step := range []func() error{out.Flush, temp.Sync} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := temp.Rename(path); err != nil {
		return err
	}
	return x.fs.SyncDir(filepath.Dir(path))
}
