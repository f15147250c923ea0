package lock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrTooLarge is the error of ReadAtMost for a file over its limit.
var ErrTooLarge = errors.New("file is too large")

// ErrNotFile is the error of what opens a file for a name that something else has: a directory, a pipe, a device, a link that leads to itself.
var ErrNotFile = errors.New("not a regular file")

// Open opens a file to be read. It does not wait for a writer where a pipe has taken the file's place: what is not a regular file is ErrNotFile.
// On Windows it tries again for up to two seconds while another process is renaming the file.
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

// notFile gives what the system says of a name that leads to no file the one error for it.
func notFile(path string, err error) error {
	if isNoFile(err) {
		return &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	}
	return err
}

// ReadFile reads a whole file that others may be replacing: on Windows it tries again for up to two seconds. It never maps, and reads regular
// files only (ErrNotFile).
func ReadFile(path string) ([]byte, error) { return readFile(path, 1<<62) }

// ReadAtMost is ReadFile for a file of at most limit bytes; the size is looked at before anything is allocated (ErrTooLarge).
func ReadAtMost(path string, limit int64) ([]byte, error) { return readFile(path, limit) }

// readOnce is ReadAtMost without a second try.
func readOnce(path string, limit int64) ([]byte, error) {
	f, info, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%w: %q has %d bytes, %d is the most", ErrTooLarge, path, info.Size(), limit)
	}
	b := make([]byte, 0, info.Size()+1) // one more, so that the end shows without another allocation
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
			b = append(b, 0)[:len(b)] // it has grown since
		}
	}
}
