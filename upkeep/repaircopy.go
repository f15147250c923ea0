package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/lock"
)

// beforeRepair begins the name of the copy that a repair makes beside the store.
const beforeRepair = "context.before-repair-"

// touch makes sure that there is a copy before something is changed.
func (r *repairer) touch() error {
	if r.report.Copy != "" {
		return nil
	}
	return r.copyStore()
}

// copyStore copies the store as it is, damage and all, before anything is changed. It takes its name when all of it is there: a repair without room for it
// changes nothing.
func (r *repairer) copyStore() error {
	to := r.o.Copy
	if to == "" {
		to = filepath.Join(filepath.Dir(r.dir), beforeRepair+r.env.Now().UTC().Format("20060102T150405Z"))
		for name, n := to, 2; exists(to); n++ {
			to = fmt.Sprintf("%s-%d", name, n)
		}
	}
	if exists(to) {
		return fmt.Errorf("%w: %q", ErrCopyThere, to)
	}
	aside := filepath.Join(filepath.Dir(to), fmt.Sprintf("%srepair-%d", asidePrefix, r.env.Owner.PID))
	err := removeTree(r.env.FS, aside)
	if err == nil {
		err = copyTree(r.ctx, r.env.FS, r.dir, aside)
	}
	if err == nil {
		err = r.env.FS.Rename(aside, to)
	}
	if err == nil {
		err = r.env.FS.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("no copy of the store: %w", err), removeTree(r.env.FS, aside))
	}
	r.report.Copy = to
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// copyTree copies the files of a store, but for unfinished ones and what is no file.
func copyTree(ctx context.Context, fsys *lock.FS, from, to string) error {
	if err := fsys.MkdirAll(filepath.Dir(to)); err != nil {
		return err
	}
	if err := makeFolders(fsys, to); err != nil {
		return err
	}
	x := &extractor{ctx: ctx, fs: fsys, dir: to}
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
		if strings.HasPrefix(d.Name(), lock.TempPrefix) {
			return nil
		}
		f, err := lock.Open(path)
		if errors.Is(err, lock.ErrNotFile) || errors.Is(err, fs.ErrNotExist) {
			return nil // it holds nothing
		}
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			err = x.file(filepath.ToSlash(rel), info.Size(), f)
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return err
	}
	return x.flush()
}
