package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
