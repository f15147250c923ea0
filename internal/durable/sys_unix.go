//go:build unix

package durable

import (
	"errors"
	"os"
	"syscall"
)

// noFollow makes opening a link fail before anything is written.
const noFollow = syscall.O_NOFOLLOW

func rename(from, to string) error { return os.Rename(from, to) }

// NoWait makes open return at once for a file that is not regular, such as a pipe without a
// writer.
const NoWait = syscall.O_NONBLOCK

// isNoFile reports whether a file could not be opened because path does not lead to a regular
// file: it is a link to itself, a directory, or a pipe that nobody reads.
func isNoFile(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) ||
		errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ENOTDIR)
}

func readFile(path string, limit int64) ([]byte, error) { return readOnce(path, limit) }

func openShared(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|NoWait, 0) }

func openForSync(path string) (*os.File, error) { return Open(path) }

// syncDir ignores EINVAL and ENOTSUP: some network and user-space file systems cannot sync a
// directory.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

// inUse returns false: Unix can remove the name of an open file.
func inUse(error) bool { return false }
