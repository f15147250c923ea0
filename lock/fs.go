// Package lock holds what makes a store safe to write: the store's lock, and the calls that put bytes on disk for good.
//
// Every step that another process or a crash can see goes through FS, one call a step, so that a test can stop the program after
// any of them. Nothing else in the program writes, syncs, renames or removes a file of a store.
package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The steps a Hook is asked about.
const (
	OpWrite    = "write"    // a temporary file is made if there is none yet, and Data is written at its end
	OpAppend   = "append"   // Data is written at the end of a file that stays in place
	OpSync     = "sync"     // a file's bytes are made to last
	OpSyncDir  = "syncdir"  // a directory's names are made to last
	OpRename   = "rename"   // a file takes its name; a temporary one for a write, or see Rename
	OpTruncate = "truncate" // a file is cut
	OpRemove   = "remove"   // a name goes
	OpMkdir    = "mkdir"    // a directory is made
	OpChtimes  = "chtimes"  // a file's time is set
)

// What is no step, and only Told hears of it: it may be lost at any time.
const (
	OpHint       = "hint"       // Data is written over the beginning of a file, or at Off, without a sync
	OpHintRename = "hintrename" // a file of hints takes another name
	OpHintRemove = "hintremove" // a file that may be lost goes, such as the temporary one of a write that failed
)

// Call is one step on its way to the disk.
type Call struct {
	N    int    // 1 for the first step asked about, counted over the life of the FS; 0 for what is no step
	Op   string // one of the Op constants
	Path string // the name the step is for; a temporary file has the name it will take, or <dir>/.tmp where that is not known yet
	Data []byte // what is written, for OpWrite and OpAppend; not to be kept or changed
	Off  int64  // where Data goes, for OpAppend; the new length, for OpTruncate

	// For Told, what was done to which file: the one that was written, synced or had the name before, and its mode or time where
	// the step set that. A temporary file has its own name here.
	File string
	Perm fs.FileMode
	Time time.Time
}

// FS makes the durable calls. The zero value is the real thing; a nil *FS is too.
//
// With a Hook, steps run one at a time, in an order that depends on the arguments alone. Without one, a call may sync several
// files at once. An FS may be used from several goroutines. It must not be copied after its first use.
type FS struct {
	// Hook, where set, is asked before each step. nil lets it run. ErrStopped stops the FS as a crash would: this step and all
	// later ones fail with ErrStopped and the disk is left as it is, clean-up included. *Torn writes a part first. Any other
	// error fails this step only.
	Hook func(Call) error
	// Told, where set, is told of each step that Hook let run and of what is no step, and how it ended. With it, too, steps run one
	// at a time.
	Told func(Call, error)

	mu      sync.Mutex
	n       int
	stopped bool
}

// ErrStopped is the error of every step after a Hook stopped the FS.
var ErrStopped = errors.New("stopped by a test")

// Torn is what a Hook returns for a write or an append that is to reach the disk in part: the first Keep bytes are written, then
// the step fails with Err, or where Err is nil the FS stops. For other steps it is a plain stop or failure.
type Torn struct {
	Keep int
	Err  error
}

func (t *Torn) Error() string { return fmt.Sprintf("torn after %d bytes", t.Keep) }

// Stopped reports whether a Hook stopped this FS.
func (f *FS) Stopped() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopped
}

// step runs do(c.Data) as one step, if the hook allows it. do may fill in what c says of the file.
func (f *FS) step(c *Call, do func([]byte) error) error {
	if !f.hooked() {
		return do(c.Data)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return ErrStopped
	}
	f.n++
	c.N = f.n
	if f.Hook != nil {
		if err := f.Hook(*c); err != nil {
			return f.refuse(err, c.Data, do)
		}
	}
	err := do(c.Data)
	if f.Told != nil {
		if c.File == "" {
			c.File = c.Path
		}
		f.Told(*c, err)
	}
	return err
}

// refuse does what a hook's error asks for. The caller holds f.mu.
func (f *FS) refuse(err error, data []byte, do func([]byte) error) error {
	var torn *Torn
	switch {
	case errors.As(err, &torn):
		if data != nil {
			_ = do(data[:min(max(torn.Keep, 0), len(data))])
		}
		if torn.Err != nil {
			return torn.Err
		}
	case !errors.Is(err, ErrStopped):
		return err
	}
	f.stopped = true
	return ErrStopped
}

func (f *FS) hooked() bool { return f != nil && (f.Hook != nil || f.Told != nil) }

// quiet runs do, which is no step of its own (clean-up, hints), unless the FS has been stopped.
func (f *FS) quiet(c Call, do func() error) error {
	if !f.hooked() {
		return do()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return ErrStopped
	}
	err := do()
	if f.Told != nil {
		if c.File == "" {
			c.File = c.Path
		}
		f.Told(c, err)
	}
	return err
}

// SyncDir makes the names in a directory last: files that were renamed into it, made in it or removed from it before the call
// are so after a power cut. Where the platform has no such call (Windows, and file systems that refuse it) it does nothing.
func (f *FS) SyncDir(path string) error {
	return f.step(&Call{Op: OpSyncDir, Path: path}, func([]byte) error { return syncDir(path) })
}

// SyncFile makes the bytes of a file last. The file must exist (fs.ErrNotExist).
func (f *FS) SyncFile(path string) error {
	return f.step(&Call{Op: OpSync, Path: path}, func([]byte) error {
		file, err := openForSync(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

// AppendSync writes data at off, which must be the file's length, and syncs: two steps. At off 0 the file is made, mode 0600, if
// it is not there; its name lasts only after SyncDir. A file of another length is left alone, with an error. After any other error, or a crash,
// any part of data may be in the file: the caller cuts it with Truncate, or a later reader finds a torn tail.
func (f *FS) AppendSync(path string, off int64, data []byte) error {
	flags := os.O_WRONLY
	if off == 0 {
		flags |= os.O_CREATE
	}
	var file *os.File
	err := f.step(&Call{Op: OpAppend, Path: path, Data: data, Off: off}, func(part []byte) (err error) {
		if file, err = openAt(path, flags, off); err != nil {
			return err
		}
		_, err = file.WriteAt(part, off)
		return err
	})
	if file == nil {
		return err
	}
	if err == nil {
		err = f.step(&Call{Op: OpSync, Path: path}, func([]byte) error { return syncData(file) })
	}
	return errors.Join(err, file.Close())
}

// openAt opens a file that must have size bytes.
func openAt(path string, flags int, size int64) (*os.File, error) {
	file, err := openOwn(path, flags)
	if err != nil {
		return nil, notFile(path, err)
	}
	info, err := file.Stat()
	if err == nil && info.Size() != size {
		err = fmt.Errorf("cannot append to %q at %d: it has %d bytes", path, size, info.Size())
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Truncate cuts a file to size bytes and syncs it: two steps. After a crash the file has its old length or the new one.
func (f *FS) Truncate(path string, size int64) error {
	err := f.step(&Call{Op: OpTruncate, Path: path, Off: size}, func([]byte) error {
		if err := refuseLink(path); err != nil {
			return err
		}
		return os.Truncate(path, size)
	})
	if err != nil {
		return err
	}
	return f.SyncFile(path)
}

// Remove takes a file's name, or an empty directory, away. It lasts only after SyncDir on the directory.
func (f *FS) Remove(path string) error {
	return f.step(&Call{Op: OpRemove, Path: path}, func([]byte) error { return os.Remove(path) })
}

// InUse says that a file could not be removed since somebody has it open, which is so on Windows only. Who removes what it can do without leaves the file for the next time.
func InUse(err error) bool { return inUse(err) }

// Rename gives a file another name in the same file system, replacing what has it. On Windows it tries again for up to two
// seconds while a reader has either file open. It lasts only after SyncDir on both directories.
func (f *FS) Rename(from, to string) error {
	return f.step(&Call{Op: OpRename, Path: to, File: from}, func([]byte) error { return rename(from, to) })
}

// Mkdir makes one directory, mode 0700. fs.ErrExist where there is one. It lasts only after SyncDir on its parent.
func (f *FS) Mkdir(path string) error {
	return f.step(&Call{Op: OpMkdir, Path: path}, func([]byte) error { return os.Mkdir(path, 0o700) })
}

// MkdirAll makes a directory, mode 0700, and those above it that are missing, and syncs each parent it made one in. One that is
// there already costs no step.
func (f *FS) MkdirAll(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("not a directory: %q", path)
		}
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := f.MkdirAll(parent); err != nil {
			return err
		}
	}
	if err := f.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.SyncDir(parent)
}

// Chtimes sets the access and modification time of a file to t. It is not synced: a time only matters while those who look at it run.
func (f *FS) Chtimes(path string, t time.Time) error {
	return f.step(&Call{Op: OpChtimes, Path: path, Time: t}, func([]byte) error { return os.Chtimes(path, t, t) })
}

// WriteHint writes data over the beginning of a file, mode 0600, without sync and without being a step: for what may be lost, torn or stale, as
// lock.owner and caches may. What the file had beyond data stays, so that the reader has to know where data ends; in return nothing is allocated or freed,
// which costs more than all the rest of a small write. After a stop it does nothing.
func (f *FS) WriteHint(path string, data []byte) error {
	return f.quiet(Call{Op: OpHint, Path: path, Data: data}, func() error {
		file, err := openOwn(path, os.O_WRONLY|os.O_CREATE)
		if err != nil {
			return notFile(path, err)
		}
		_, err = file.Write(data)
		return errors.Join(err, file.Close())
	})
}

// AppendHint appends data to a file, mode 0600, without sync and without being a step: for what people read when something went wrong. A file
// that would pass most bytes by it takes the name path.1 first, in the place of the one that had it. After a stop it does nothing.
func (f *FS) AppendHint(path string, data []byte, most int64) error {
	var off int64
	if info, err := os.Lstat(path); err == nil {
		off = info.Size()
	}
	if off > 0 && off+int64(len(data)) > most {
		err := f.quiet(Call{Op: OpHintRename, Path: path + ".1", File: path}, func() error { return rename(path, path+".1") })
		if err != nil {
			return err
		}
		off = 0
	}
	return f.quiet(Call{Op: OpHint, Path: path, Data: data, Off: off}, func() error {
		file, err := openOwn(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return notFile(path, err)
		}
		_, err = file.Write(data)
		return errors.Join(err, file.Close())
	})
}

// RemoveHint removes a file that may be lost at any time, without being a step. After a stop it does nothing.
func (f *FS) RemoveHint(path string) error {
	return f.quiet(Call{Op: OpHintRemove, Path: path}, func() error { return os.Remove(path) })
}
