package durabletest

import (
	"os"
	"testing"
)

// TempDir returns a new directory that is removed after the test. It is in memory where the machine
// has such a file system, because the tests do not test the disk.
func TempDir(t testing.TB) string {
	t.Helper()
	if info, err := os.Stat("/dev/shm"); err != nil || !info.IsDir() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "ctx-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
