package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/robustio"
)

func rename(from, to string) error { return robustio.Rename(from, to) }

// NoWait is 0: on Windows no file in a directory makes open wait.
const NoWait = 0

func isNoFile(error) bool { return false }

func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotFile}
	case info.Size() > limit:
		return nil,
			fmt.Errorf("%w: %q has %d bytes, %d is the most", ErrTooLarge, path, info.Size(), limit)
	}
	return robustio.ReadFile(path)
}

// noFollow does not exist on Windows: refuseLink looks for links, which few users may create.
const noFollow = 0

// openForSync opens for writing: Windows refuses to flush a file that is open for reading only.
func openForSync(path string) (*os.File, error) { return openPatiently(path, os.O_RDWR) }

func openShared(path string) (*os.File, error) { return openPatiently(path, os.O_RDONLY) }

// The first and the longest pause between two tries.
const (
	firstPause = time.Millisecond
	lastPause  = 20 * time.Millisecond
)

// patience is how long openPatiently retries: as long as robustio does for a rename.
const patience = 2 * time.Second

// openPatiently opens a file that another process may be renaming. Until the rename is done,
// Windows refuses to open the file. A file that does not exist is an error at once.
func openPatiently(path string, flag int) (*os.File, error) {
	end := time.Now().Add(patience)
	for pause := firstPause; ; pause = min(pause+pause/2, lastPause) {
		file, err := os.OpenFile(path, flag, 0)
		passes := robustio.IsEphemeralError(err) && !errors.Is(err, fs.ErrNotExist)
		if err == nil || !passes || time.Now().After(end) {
			return file, err
		}
		time.Sleep(pause)
	}
}

func syncDir(string) error { return nil }

// errorSharingViolation is the error of Windows for a file that a process has open.
const errorSharingViolation = syscall.Errno(32)

func inUse(err error) bool { return errors.Is(err, errorSharingViolation) }
