package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrTooLarge says that a file is over the limit of ReadAtMost.
var ErrTooLarge = errors.New("file is too large")

// ErrNotFile says that a path does not lead to a regular file but to a directory, a pipe, a device
// or a link to itself.
var ErrNotFile = errors.New("not a regular file")

// Open opens a file for reading. It does not wait for a writer if a pipe has taken the place of
// the file: anything but a regular file is ErrNotFile. On Windows it retries for up to two seconds
// while another process renames the file.
func Open(path string) (*os.File, error) {
	f, _, err := openFile(path)
	return f, err
}

func openFile(path string) (*os.File, fs.FileInfo, error) {
	f, err := openShared(path)
	if err != nil {
		return nil, nil, notFile(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// notFile turns the system's errors for a path that leads to no regular file into ErrNotFile.
func notFile(path string, err error) error {
	if isNoFile(err) {
		return &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	}
	return err
}

// ReadFile reads a whole regular file that other processes may replace. It does not map the file
// into memory. On Windows it retries for up to two seconds. Errors: ErrNotFile.
func ReadFile(path string) ([]byte, error) { return readFile(path, 1<<62) }

// ReadAtMost is ReadFile for a file of at most limit bytes. It checks the size before it
// allocates. Errors: ErrNotFile, ErrTooLarge.
func ReadAtMost(path string, limit int64) ([]byte, error) { return readFile(path, limit) }

// readOnce is ReadAtMost without retries.
func readOnce(path string, limit int64) ([]byte, error) {
	f, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil,
			fmt.Errorf("%w: %q has %d bytes, %d is the most", ErrTooLarge, path, info.Size(), limit)
	}
	// One spare byte, so that Read reports the end without another allocation
	b := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, err
		case int64(len(b)) > limit:
			return nil, fmt.Errorf("%w: %q has more than %d bytes", ErrTooLarge, path, limit)
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)] // the file has grown
		}
	}
}

// MaxInput is the largest file, in bytes, that a command reads from end to end without holding it
// in memory: a transcript, JSON lines, a bundle. A million messages take about 1 GB.
const MaxInput = 1 << 38

// OpenAtMost opens for reading a file that somebody outside the program named. It accepts a
// regular file, or a link to one, of at most limit bytes. Any other kind of file is ErrNotFile and
// is not opened at all: a pipe would wait for its writer, a device may never end, and some devices
// act on being opened. A larger file is ErrTooLarge. The file may still grow: a caller that reads
// to its end enforces the limit itself, or uses OpenInput.
func OpenAtMost(path string, limit int64) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			at.Op = "open" // what the caller asked for
		}
		return nil, nil, notFile(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	}
	f, info, err := openFile(path) // checks again: another file may have taken the name
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > limit {
		return nil, nil, errors.Join(tooLarge(path, limit), f.Close())
	}
	return f, info, nil
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("%w: %q has more than %d bytes", ErrTooLarge, path, limit)
}

// Input reads an open file from outside the program, up to a number of bytes.
type Input struct {
	file  *os.File
	limit int64
	read  int64
}

// OpenInput is OpenAtMost for a file that is read from its beginning. Read returns ErrTooLarge
// once the file has grown past limit bytes.
func OpenInput(path string, limit int64) (*Input, error) {
	f, _, err := OpenAtMost(path, limit)
	if err != nil {
		return nil, err
	}
	return &Input{file: f, limit: limit}, nil
}

// Read implements io.Reader.
func (in *Input) Read(p []byte) (int, error) {
	left := in.limit - in.read
	if left < 0 {
		return 0, tooLarge(in.file.Name(), in.limit)
	}
	if int64(len(p)) > left {
		p = p[:left+1] // one byte more tells the end of the file from the limit
	}
	n, err := in.file.Read(p)
	if in.read += int64(n); in.read > in.limit {
		return n - 1, tooLarge(in.file.Name(), in.limit)
	}
	return n, err
}

// Seek implements io.Seeker.
func (in *Input) Seek(offset int64, whence int) (int64, error) {
	at, err := in.file.Seek(offset, whence)
	if err == nil {
		in.read = at
	}
	return at, err
}

// Stat implements fs.File.
func (in *Input) Stat() (fs.FileInfo, error) { return in.file.Stat() }

// Close implements io.Closer.
func (in *Input) Close() error { return in.file.Close() }

// ReadInput returns the content of a file that somebody outside the program named. Errors: those
// of OpenInput.
func ReadInput(path string, limit int64) ([]byte, error) {
	in, err := OpenInput(path, limit)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(in)
	return b, errors.Join(err, in.Close())
}

// InputFS returns the directory root as a file system that opens files as OpenInput does: only
// regular files of at most limit bytes. Directories can be listed.
func InputFS(root string, limit int64) fs.FS { return inputFS{root, limit} }

type inputFS struct {
	root  string
	limit int64
}

// Open implements fs.FS.
func (d inputFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	path := filepath.Join(d.root, filepath.FromSlash(name))
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return os.Open(path)
	}
	in, err := OpenInput(path, d.limit)
	if err != nil {
		return nil, err // not a nil *Input in an interface
	}
	return in, nil
}
