package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// TempPrefix begins the name of every temporary file. A crash can leave one in any directory that is written to; it is never
// read, and may be removed when it is older than the longest write.
const TempPrefix = ".tmp-"

// OwnPrefix begins the name of every temporary file that this package makes: TempPrefix, and more that tells it from those of other programs in a directory
// that is not a store's.
const OwnPrefix = TempPrefix + "ctx-"

// syncers is how many files or directories are synced at once. A journalling file system takes several syncs into one
// commit; more than a few gains nothing.
const syncers = 8

// File is a file to be written whole.
type File struct {
	Path string
	Data []byte
	Perm fs.FileMode
}

// WriteFile replaces the file at path, or makes it: a temporary file in the same directory is written, synced where sync is
// true, and renamed. Readers see the old bytes or the new, never a part; so does a crash if sync is true. The name lasts
// only after SyncDir. Steps: write, sync, rename. After an error the old file is there and the temporary one is gone.
func (f *FS) WriteFile(path string, data []byte, perm fs.FileMode, sync bool) error {
	t := f.temp(filepath.Dir(path), path, perm)
	defer t.Discard()
	if _, err := t.Write(data); err != nil {
		return err
	}
	if sync {
		if err := t.Sync(); err != nil {
			return err
		}
	}
	return t.Rename(path)
}

// WriteDurable is WriteFile with sync, then SyncDir: when it returns nil the file is there after a power cut. Four steps.
func (f *FS) WriteDurable(path string, data []byte, perm fs.FileMode) error {
	if err := f.WriteFile(path, data, perm, true); err != nil {
		return err
	}
	return f.SyncDir(filepath.Dir(path))
}

// WriteFiles writes several files as WriteFile does, then renames them in the order given, and where sync is true syncs every
// directory they are in, once, in the order of their names. All data is synced before the first rename. After an error or a
// crash a prefix of the files may have their names. No two may have the same path.
func (f *FS) WriteFiles(files []File, sync bool) error {
	temps := make([]*Temp, len(files))
	for i, file := range files {
		temps[i] = f.temp(filepath.Dir(file.Path), file.Path, file.Perm)
	}
	defer func() {
		for _, t := range temps {
			t.Discard()
		}
	}()
	for i, file := range files {
		if _, err := temps[i].Write(file.Data); err != nil {
			return err
		}
	}
	if sync {
		if err := f.each(len(temps), func(i int) error { return temps[i].Sync() }); err != nil {
			return err
		}
	}
	for i, file := range files {
		if err := temps[i].Rename(file.Path); err != nil {
			return err
		}
	}
	if !sync {
		return nil
	}
	return f.SyncDirs(dirsOf(files))
}

func dirsOf(files []File) []string {
	dirs := make([]string, len(files))
	for i, file := range files {
		dirs[i] = filepath.Dir(file.Path)
	}
	return dirs
}

// SyncDirs is SyncDir on each distinct one of dirs, in the order of their names.
func (f *FS) SyncDirs(dirs []string) error {
	dirs = slices.Clone(dirs)
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	return f.each(len(dirs), func(i int) error { return f.SyncDir(dirs[i]) })
}

// each calls do for 0…n-1, several at a time, or one after another where a hook watches. It returns the error of the lowest
// number that failed.
func (f *FS) each(n int, do func(int) error) error {
	if n < 2 || f.hooked() {
		for i := range n {
			if err := do(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for w := range min(n, syncers) {
		wg.Go(func() {
			for i := w; i < n; i += syncers {
				errs[i] = do(i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Temp is a file that is being written and has no name yet. It is made at the first Write. It is not for several goroutines.
type Temp struct {
	fs    *FS
	dir   string
	label string // what a hook is shown
	perm  fs.FileMode
	file  *os.File
	open  bool
	done  bool
}

// NewTemp begins a file in dir, mode 0600, whose name is not known until all of it is written. Nothing is made yet. The caller
// defers Discard.
func (f *FS) NewTemp(dir string) *Temp {
	return f.temp(dir, filepath.Join(dir, ".tmp"), 0o600)
}

func (f *FS) temp(dir, label string, perm fs.FileMode) *Temp {
	return &Temp{fs: f, dir: dir, label: label, perm: perm}
}

// Write appends p: one step. It returns how much of p was written.
func (t *Temp) Write(p []byte) (n int, err error) {
	c := &Call{Op: OpWrite, Path: t.label, Data: p, Perm: t.perm}
	err = t.fs.step(c, func(part []byte) error {
		if err := t.create(); err != nil {
			return err
		}
		c.File = t.file.Name()
		n, err = t.file.Write(part)
		return err
	})
	return n, err
}

func (t *Temp) create() error {
	if t.file != nil {
		return nil
	}
	file, err := os.CreateTemp(t.dir, OwnPrefix+"*")
	if err != nil {
		return err
	}
	t.file, t.open = file, true
	if t.perm != 0o600 {
		return file.Chmod(t.perm)
	}
	return nil
}

// Sync makes what was written last, under no name yet. At least one Write came before.
func (t *Temp) Sync() error {
	c := &Call{Op: OpSync, Path: t.label}
	return t.fs.step(c, func([]byte) error {
		if t.file == nil {
			return fmt.Errorf("nothing written to %q", t.label)
		}
		c.File = t.file.Name()
		return t.file.Sync()
	})
}

// Rename closes the file and gives it its name, in the same file system, replacing what has it. At least one Write came before.
func (t *Temp) Rename(path string) error {
	c := &Call{Op: OpRename, Path: path}
	return t.fs.step(c, func([]byte) error {
		if t.file == nil {
			return fmt.Errorf("nothing written to %q", t.label)
		}
		c.File = t.file.Name()
		t.open = false
		if err := t.file.Close(); err != nil {
			return err
		}
		if err := rename(t.file.Name(), path); err != nil {
			return err
		}
		t.done = true
		return nil
	})
}

// Discard closes and removes a file that has not been renamed. After a stop it leaves it, as a crash would.
func (t *Temp) Discard() {
	if t.file == nil {
		return
	}
	var err error
	if t.open {
		t.open = false
		err = t.file.Close()
	}
	if !t.done {
		t.done = true
		err = errors.Join(err, t.fs.quiet(Call{Op: OpHintRemove, Path: t.file.Name()}, func() error { return os.Remove(t.file.Name()) }))
	}
	_ = err // a leftover is swept later
}
