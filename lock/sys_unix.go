//go:build unix

package lock

import (
	"errors"
	"os"
	"syscall"
)

func rename(from, to string) error { return os.Rename(from, to) }

func readFile(path string) ([]byte, error) { return os.ReadFile(path) }

func openForSync(path string) (*os.File, error) { return os.Open(path) }

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
