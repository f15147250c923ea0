// A Dir is a remote that is a folder: on this disk, on a file server, or synced by another program.
// It is the reference for all remotes.

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

// lockTimeout is how long a writer waits for others. Each holds the lock for a few file writes, but
// those who wait get it in no order: of 16 who write without a pause, one waits for half a minute.
const lockTimeout = 5 * time.Minute

// Dir is the remote in a folder. Files and folders that it makes have the permissions of the root,
// so that whoever may write there can write to all of it.
type Dir struct {
	root  string
	mode  fs.FileMode // of the root
	fs    *durable.FS
	owner lock.Owner
}

// Open returns the remote in the folder root, which is made if its parent exists. owner tells
// others who holds the lock. Everybody who reads the folder reads it, so its host is left out.
// Errors are those of the file system.
func OpenDir(root string, fsys *durable.FS, owner lock.Owner) (*Dir, error) {
	if err := os.Mkdir(root, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%q is not a folder", root)
	}
	owner.Host = ""
	d := &Dir{root: root, mode: info.Mode() & (fs.ModePerm | fs.ModeSetgid), fs: fsys, owner: owner}
	return d, d.shareLock()
}

// shareLock makes the files of the lock, so that everybody who may write to the root can take it.
func (d *Dir) shareLock() error {
	for _, name := range []string{"lock", "lock.owner"} {
		path := filepath.Join(d.root, name)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, d.mode&0o666)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission) {
			continue // who may only read needs no lock
		}
		if err != nil {
			return err
		}
		if err := errors.Join(f.Close(), os.Chmod(path, d.mode&0o666)); err != nil {
			return err
		}
	}
	return nil
}

// List implements remote.Remote. It gives no tags: two contents of a file may have one time. It
// passes over what no remote writes: the lock, unfinished files, and what a program that syncs
// folders leaves.
func (d *Dir) List(ctx context.Context, prefix string) ([]File, error) {
	var files []File
	start := filepath.Join(d.root, filepath.FromSlash(prefix))
	err := filepath.WalkDir(start, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // there is nothing yet, or it went meanwhile
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case path == d.root:
			return nil
		}
		name, err := filepath.Rel(d.root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if CheckName(name) != nil {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() || name == "lock" || name == "lock.owner" {
			return nil
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode().IsRegular():
			files = append(files, File{Name: name, Size: info.Size()})
		}
		return nil
	})
	// The walk goes folder by folder, which puts "a/b" before "a-b".
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, err
}

// Get implements remote.Remote.
func (d *Dir) Get(_ context.Context, name string) ([]byte, error) {
	path, err := d.path(name)
	if err != nil {
		return nil, err
	}
	b, err := durable.ReadAtMost(path, MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	return b, err
}

// PutNew implements remote.Remote.
func (d *Dir) PutNew(ctx context.Context, name string, data []byte) error {
	return d.locked(ctx, name, func(path string) error {
		switch old, err := durable.ReadAtMost(path, MaxFile); {
		case err == nil && bytes.Equal(old, data):
			return nil
		case err == nil:
			return fmt.Errorf("%w: %s", ErrExists, name)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return d.write(path, data)
	})
}

// Swap implements remote.Remote.
func (d *Dir) Swap(ctx context.Context, name string, old, new []byte) error {
	return d.locked(ctx, name, func(path string) error {
		now, err := durable.ReadAtMost(path, MaxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if there := err == nil; there != (old != nil) || !bytes.Equal(now, old) {
			return fmt.Errorf("%w: %s", ErrStale, name)
		}
		return d.write(path, new)
	})
}

// Delete implements remote.Remote. Folders stay.
func (d *Dir) Delete(ctx context.Context, names []string) error {
	for _, name := range names {
		err := d.locked(ctx, name, func(path string) error {
			if err := d.fs.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements remote.Remote.
func (d *Dir) Close() error { return nil }

func (d *Dir) path(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(d.root, filepath.FromSlash(name)), nil
}

// locked runs do with the path of a file, whose folder exists, while no other client writes.
func (d *Dir) locked(ctx context.Context, name string, do func(path string) error) error {
	path, err := d.path(name)
	if err != nil {
		return err
	}
	if err = d.makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return lock.With(ctx, d.fs, d.root, lockTimeout, d.owner, func() error {
		if err := d.sweep(); err != nil {
			return err
		}
		return do(path)
	})
}

// unfinished is the folder in which files are written before they get their names. No file of a
// remote has a name with such a beginning.
const unfinished = ".unfinished"

// sweep removes what writers that were stopped have left. The lock is held, so nobody writes.
func (d *Dir) sweep() error {
	left, err := os.ReadDir(filepath.Join(d.root, unfinished))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range left {
		err = errors.Join(err, d.fs.Remove(filepath.Join(d.root, unfinished, f.Name())))
	}
	return err
}

// makeFolder makes a folder under the root and those that it is in.
func (d *Dir) makeFolder(path string) error {
	if path == d.root {
		return nil
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	parent := filepath.Dir(path)
	if err := d.makeFolder(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, d.mode.Perm()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// The mask of the process may have taken bits away that the root has.
	if err := os.Chmod(path, d.mode); err != nil {
		return err
	}
	return d.fs.SyncDir(parent)
}

// write writes a file, and then gives it its name.
func (d *Dir) write(path string, data []byte) error {
	folder := filepath.Join(d.root, unfinished)
	if err := d.makeFolder(folder); err != nil {
		return err
	}
	temp := filepath.Join(folder, filepath.Base(path))
	if err := d.fs.WriteFile(temp, data, d.mode&0o666, true); err != nil {
		return err
	}
	if err := d.fs.Rename(temp, path); err != nil {
		return err
	}
	return d.fs.SyncDir(filepath.Dir(path))
}
