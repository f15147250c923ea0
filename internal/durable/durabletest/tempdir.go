package durabletest

import (
	"os"
	"runtime/debug"
	"testing"
)

// Tests make many small stores: with Go's own values a quarter of their processor time went into
// collections. Some tests hold large objects, hence the limit in bytes.
func init() {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(768 << 20)
}

// TempDir returns a new directory that is removed after the test. It is in memory where the machine
// has such a file system, because the tests do not test the disk.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ctx-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
