package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/robustio"
)

func rename(from, to string) error { return robustio.Rename(from, to) }

// atOnce is nothing here: no name in a directory waits when it is opened.
const atOnce = 0

func isNoFile(error) bool { return false }

func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	case info.Size() > limit:
		return nil, fmt.Errorf("%w: %q has %d bytes, %d is the most", ErrTooLarge, path, info.Size(), limit)
	}
	return robustio.ReadFile(path)
}

// noFollow does not exist here: links, which few may make, are looked for.
const noFollow = 0

// openForSync opens for writing, without which Windows refuses to flush a file.
func openForSync(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR, 0) }

func syncDir(string) error { return nil }

// errorSharingViolation is what Windows says of a file that somebody has open.
const errorSharingViolation = syscall.Errno(32)

func inUse(err error) bool { return errors.Is(err, errorSharingViolation) }
