//go:build unix

package lock

import (
	"errors"
	"os"
	"syscall"
)

// noFollow makes opening a link fail before anything is written.
const noFollow = syscall.O_NOFOLLOW

func rename(from, to string) error { return os.Rename(from, to) }

// atOnce opens what is not a regular file without waiting for its other end.
const atOnce = syscall.O_NONBLOCK

// isNoFile reports whether a name was not opened because of what it leads to: itself, a directory, a pipe that nobody reads.
func isNoFile(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ENOTDIR)
}

func readFile(path string, limit int64) ([]byte, error) { return readOnce(path, limit) }

func openShared(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|atOnce, 0) }

func openForSync(path string) (*os.File, error) { return Open(path) }

// syncDir ignores EINVAL and ENOTSUP: some network and user-space file systems have no sync for directories.
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

// inUse: a name can be taken from a file that is open.
func inUse(error) bool { return false }
