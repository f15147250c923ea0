package durable

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// TempPrefix begins the names of the temporary files that this package names. A crash can leave
// such a file in any directory that a command writes to. Nothing reads it, and it may be removed
// once it is older than the longest write.
const TempPrefix = ".tmp-"

// OwnPrefix begins the name of every temporary file that this package names. It tells the file
// from those of other programs in a directory that does not belong to a store.
const OwnPrefix = TempPrefix + "ctx-"

// IsTemp reports whether a file in a store has the name of a temporary file: TempPrefix, or what
// renameio makes of the name of the file to replace.
func IsTemp(name string) bool {
	base := strings.TrimRight(name, "0123456789")
	return strings.HasPrefix(name, TempPrefix) || len(base) > 1 && IsTempOf(name, base[1:])
}

// IsTempOf reports whether name is one that renameio gives the temporary file that replaces a file
// called target: a dot, target and a random number, which is below 10^8 once in 10^11 times.
func IsTempOf(name, target string) bool {
	digits, ok := strings.CutPrefix(name, "."+target)
	return ok && len(digits) >= 8 && strings.Trim(digits, "0123456789") == ""
}

// syncers is the number of files or directories that are synced at once. A journalling file system
// puts several syncs into one commit. More than a few gain nothing.
const syncers = 8

// File is a file to write as a whole.
type File struct {
	Path string
	Data []byte
	Perm fs.FileMode
}

// WriteFile creates the file at path or replaces it. It writes a temporary file in the same
// directory, syncs it if sync is true, and renames it. A reader sees the old bytes or the new
// ones, never a mixture; with sync, this also holds after a crash. The new name survives a power
// cut only after SyncDir. Steps: write, sync, rename. After an error the old file is unchanged and
// the temporary file is gone.
func (f *FS) WriteFile(path string, data []byte, perm fs.FileMode, sync bool) error {
	t := f.temp(filepath.Dir(path), path, perm)
	t.named = sync
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

// WriteDurable calls WriteFile with sync and then SyncDir: four steps. When it returns nil, the
// file survives a power cut.
func (f *FS) WriteDurable(path string, data []byte, perm fs.FileMode) error {
	if err := f.WriteFile(path, data, perm, true); err != nil {
		return err
	}
	return f.SyncDir(filepath.Dir(path))
}

// WriteFiles writes several files as WriteFile does, and then renames them in the order given. If
// sync is true, it syncs all data before the first rename, and at the end each of their
// directories once, in the order of their names. After an error or a crash, a prefix of the files
// may have their names. No two files may have the same path.
func (f *FS) WriteFiles(files []File, sync bool) error {
	temps := lists.Map(files, func(file File) *Temp {
		return f.temp(filepath.Dir(file.Path), file.Path, file.Perm)
	})
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

// dirsOf returns the directory of each file.
func dirsOf(files []File) []string {
	return lists.Map(files, func(file File) string { return filepath.Dir(file.Path) })
}

// SyncDirs calls SyncDir for each distinct directory, in the order of their names.
func (f *FS) SyncDirs(dirs []string) error {
	dirs = slices.Compact(slices.Sorted(slices.Values(dirs)))
	return f.each(len(dirs), func(i int) error { return f.SyncDir(dirs[i]) })
}

// each calls do for 0…n-1, several at a time, or one after another if a hook watches. It returns
// the error of the lowest number that failed.
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
	return cmp.Or(errs...)
}

// Temp is a file that is being written and does not have its name yet. The first Write creates it.
// Only one goroutine at a time may use it.
type Temp struct {
	fs    *FS
	dir   string
	label string // the path that a hook sees
	perm  fs.FileMode
	named bool // label is the name that the file gets
	file  *os.File
	// replace closes the file and renames it to label. nil for a file whose name is not known.
	replace func() error
	open    bool
	done    bool
}

// NewTemp begins a file in dir, mode 0600, whose name is known only once its content is complete.
// It creates nothing yet. The caller defers Discard.
func (f *FS) NewTemp(dir string) *Temp {
	return f.temp(dir, filepath.Join(dir, ".tmp"), 0o600)
}

func (f *FS) temp(dir, label string, perm fs.FileMode) *Temp {
	return &Temp{fs: f, dir: dir, label: label, perm: perm}
}

// Write appends p: one step. It returns how many bytes of p it wrote.
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
	var err error
	if t.named {
		t.file, t.replace, err = newPending(t.label, t.perm)
	} else {
		t.file, err = createTemp(t.dir, t.perm)
	}
	t.open = t.file != nil
	return err
}

// createTemp makes an empty file in dir. The file is not nil where only its mode cannot be set.
func createTemp(dir string, perm fs.FileMode) (*os.File, error) {
	file, err := os.CreateTemp(dir, OwnPrefix+"*")
	if p := (*fs.PathError)(nil); errors.As(err, &p) && errors.Is(err, fs.ErrNotExist) {
		p.Path = dir // the name of the file says nothing to anybody
	}
	if err == nil && perm != 0o600 {
		err = file.Chmod(perm)
	}
	return file, err
}

// Sync makes the bytes of the file durable; the file has no name yet. A Write must come first.
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

// Rename closes the file and gives it its name, in the same file system. It replaces a file of
// that name. A Write must come first.
func (t *Temp) Rename(path string) error {
	c := &Call{Op: OpRename, Path: path}
	return t.fs.step(c, func([]byte) error {
		if t.file == nil {
			return fmt.Errorf("nothing written to %q", t.label)
		}
		c.File = t.file.Name()
		if t.replace != nil {
			err := t.replace()
			t.done = err == nil
			t.open = t.open && !t.done
			return err
		}
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

// Discard closes and removes a file that Rename has not named. After a stop it leaves the file, as
// a crash would.
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
		err = errors.Join(err,
			t.fs.quiet(Call{Op: OpHintRemove, Path: t.file.Name()},
				func() error { return os.Remove(t.file.Name()) }))
	}
	_ = err // a later command sweeps leftovers
}

// openOwn opens for writing a file that stays in place, and creates it with mode 0600 if flags say
// so. If path is a link, it returns ErrNotFile: the file at the end of the link belongs to
// somebody else.
func openOwn(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|NoWait|noFollow, 0o600)
	if linkErr := refuseLink(path); linkErr != nil {
		if err == nil {
			_ = file.Close()
		}
		return nil, linkErr
	}
	return file, err
}

// refuseLink returns ErrNotFile if path is a link.
func refuseLink(path string) error {
	if info, err := os.Lstat(path); err == nil &&
		info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return &fs.PathError{Op: "write through a link", Path: path, Err: ErrNotFile}
	}
	return nil
}
