// Package durable makes the file calls that put bytes on disk durably, and reads files that other
// processes replace.
//
// Every step that another process or a crash can see goes through FS, one call per step, so that a
// test can stop the program after any of them. Nothing else in the program writes, syncs, renames
// or removes a file of a store.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The steps that a Hook is asked about.
const (
	// The steps that a Hook is asked about.
	// Data is written at the end of a temporary file, which the first write creates
	OpWrite    = "write"
	OpAppend   = "append"   // Data is written at the end of a file that stays in place
	OpSync     = "sync"     // the bytes of a file become durable
	OpSyncDir  = "syncdir"  // the names in a directory become durable
	OpRename   = "rename"   // a temporary file takes its final name, or a file another name
	OpTruncate = "truncate" // a file is cut to a length
	OpRemove   = "remove"   // a file or an empty directory is removed
	OpMkdir    = "mkdir"    // a directory is created
	OpChtimes  = "chtimes"  // the times of a file are set
	OpRun      = "run"      // another program runs, which is not asked about its own steps
)

// Operations that are not steps: a crash may lose them. Only OnStep sees them.
const (
	// Data is written over the beginning of a file, or at Off, without a sync
	OpHint       = "hint"
	OpHintRename = "hintrename" // a file written without sync takes another name
	// A file that may be lost is removed, such as the temporary file of a failed write
	OpHintRemove = "hintremove"
)

// Call describes one step.
type Call struct {
	N  int    // the number of the step over the life of the FS, from 1; 0 for what is not a step
	Op string // one of the Op constants
	// The final name of the file; <dir>/.tmp for a temporary file whose final name is not known yet
	Path string
	Data []byte // what OpWrite and OpAppend write; a Hook must not keep or change it
	Off  int64  // where OpAppend writes Data; the new length for OpTruncate

	// For OnStep: the file that was written, synced or renamed, under the name that it had before the
	// step, and the mode or time that the step set.
	File string
	Perm fs.FileMode
	Time time.Time
}

// FS makes the durable calls. The zero value works on the real file system, and so does a nil *FS.
//
// With a Hook or OnStep, steps run one at a time, in an order that depends on the arguments alone.
// Without them, a call may sync several files at once. Several goroutines may use an FS. It must
// not be copied after its first use.
type FS struct {
	// Hook, if set, is asked before each step. nil lets the step run. ErrStopped stops the FS as a
	// crash would: this step and all later ones fail with ErrStopped, and the disk stays as it is,
	// even what a clean-up would remove. *Torn writes a part first. Any other error makes only this
	// step fail.
	Hook func(Call) error
	// OnStep, if set, is called after each step that Hook allowed and each operation that is not a
	// step, with its error.
	OnStep func(Call, error)

	mu      sync.Mutex
	n       int
	stopped bool
}

// ErrStopped is the error of every step after a Hook stopped the FS.
var ErrStopped = errors.New("stopped by a test")

// Torn is the error with which a Hook lets a write or an append reach the disk in part: the first
// Keep bytes are written, and then the step fails with Err, or the FS stops if Err is nil. Any
// other step stops or fails without having run.
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

// step runs do(c.Data) as one step if the hook allows it. do may set the fields of c for OnStep.
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
	if f.OnStep != nil {
		if c.File == "" {
			c.File = c.Path
		}
		f.OnStep(*c, err)
	}
	return err
}

// refuse carries out what the error of a hook asks for. The caller holds f.mu.
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

func (f *FS) hooked() bool { return f != nil && (f.Hook != nil || f.OnStep != nil) }

// quiet runs do, which is not a step of its own, unless the FS has been stopped.
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
	if f.OnStep != nil {
		if c.File == "" {
			c.File = c.Path
		}
		f.OnStep(c, err)
	}
	return err
}

// Run is a step before another program runs: Path is its name. It does nothing itself.
func (f *FS) Run(program string) error {
	return f.step(&Call{Op: OpRun, Path: program}, func([]byte) error { return nil })
}

// SyncDir makes the names in a directory durable: which files were created in it, renamed into it
// or removed from it before the call. If the platform cannot do that (Windows, and file systems
// that refuse it), SyncDir does nothing.
func (f *FS) SyncDir(path string) error {
	return f.step(&Call{Op: OpSyncDir, Path: path}, func([]byte) error { return syncDir(path) })
}

// SyncFile makes the bytes of a file durable. The file must exist (fs.ErrNotExist).
func (f *FS) SyncFile(path string) error {
	return f.step(&Call{Op: OpSync, Path: path}, func([]byte) error {
		file, err := openForSync(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), file.Close())
	})
}

// AppendSync writes data at off, which must be the length of the file, and syncs: two steps. At
// off 0 it creates a missing file, mode 0600; the new name survives a power cut only after
// SyncDir. A file of another length is an error and stays as it is. After any other error, or a
// crash, any part of data may be in the file: the caller cuts it with Truncate, or a later reader
// finds a torn tail.
func (f *FS) AppendSync(path string, off int64, data []byte) error {
	flags := os.O_WRONLY
	if off == 0 {
		flags |= os.O_CREATE
	}
	var file *os.File
	err := f.step(&Call{Op: OpAppend, Path: path, Data: data,
		Off: off}, func(part []byte) (err error) {
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

// Truncate cuts a file to size bytes and syncs it: two steps. After a crash the file has its old
// length or the new one.
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

// Remove removes a file or an empty directory. The removal survives a power cut only after SyncDir
// on the parent directory.
func (f *FS) Remove(path string) error {
	return f.step(&Call{Op: OpRemove, Path: path}, func([]byte) error { return os.Remove(path) })
}

// RemoveDurable removes a file, if there is one, and then calls SyncDir.
func (f *FS) RemoveDurable(path string) error {
	if err := f.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.SyncDir(filepath.Dir(path))
}

// InUse reports whether a file could not be removed because a process has it open, which happens
// only on Windows. If a command can do without the removal, it leaves the file to a later command.
func InUse(err error) bool { return inUse(err) }

// Rename gives a file another name in the same file system and replaces a file of that name. On
// Windows it retries for up to two seconds while a reader has either file open. The new name
// survives a power cut only after SyncDir on both directories.
func (f *FS) Rename(from, to string) error {
	return f.step(&Call{Op: OpRename, Path: to, File: from},
		func([]byte) error { return rename(from, to) })
}

// Mkdir creates one directory, mode 0700. Its error is fs.ErrExist if the path exists. The
// directory survives a power cut only after SyncDir on its parent.
func (f *FS) Mkdir(path string) error {
	return f.step(&Call{Op: OpMkdir, Path: path},
		func([]byte) error { return os.Mkdir(path, 0o700) })
}

// MkdirAll creates a directory and its missing parents, mode 0700, and syncs each directory that
// it created one in. It makes no step if the directory exists.
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

// Chtimes sets the access and modification time of a file to t, without a sync: the time only
// matters to processes that are running.
func (f *FS) Chtimes(path string, t time.Time) error {
	return f.step(&Call{Op: OpChtimes, Path: path, Time: t},
		func([]byte) error { return os.Chtimes(path, t, t) })
}

// WriteNoSync writes data over the beginning of a file, mode 0600, without a sync and without
// being a step. It is for bytes that may be lost, torn or stale, such as lock.owner. Bytes of the
// file beyond data stay, so a reader must know where data ends. In return the file system
// allocates and frees nothing, which is the largest cost of a small write. After a stop it does
// nothing.
func (f *FS) WriteNoSync(path string, data []byte) error {
	return f.hint(Call{Op: OpHint, Path: path, Data: data}, 0)
}

// hint writes what a call says. more are flags to open the file with.
func (f *FS) hint(c Call, more int) error {
	return f.quiet(c, func() error {
		file, err := openOwn(c.Path, os.O_WRONLY|os.O_CREATE|more)
		if err != nil {
			return notFile(c.Path, err)
		}
		_, err = file.Write(c.Data)
		return errors.Join(err, file.Close())
	})
}

// AppendNoSync appends data to a file, mode 0600, without a sync and without being a step. It is
// for logs that people read after a failure. If the file would grow over most bytes, it is first
// renamed to path.1, which replaces an older one. After a stop it does nothing.
func (f *FS) AppendNoSync(path string, data []byte, most int64) error {
	var off int64
	if info, err := os.Lstat(path); err == nil {
		off = info.Size()
	}
	if off > 0 && off+int64(len(data)) > most {
		err := f.quiet(Call{Op: OpHintRename, Path: path + ".1", File: path},
			func() error { return rename(path, path+".1") })
		if err != nil {
			return err
		}
		off = 0
	}
	return f.hint(Call{Op: OpHint, Path: path, Data: data, Off: off}, os.O_APPEND)
}

// RemoveNoSync removes a file that may be lost at any time, without being a step. After a stop it
// does nothing.
func (f *FS) RemoveNoSync(path string) error {
	return f.quiet(Call{Op: OpHintRemove, Path: path}, func() error { return os.Remove(path) })
}
