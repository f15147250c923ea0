package repo

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A store above the border of a file system is not found from below the border. Without a border it
// is found.
func TestFindStopsAtBorder(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mount := filepath.Join(root, "mount")
	start := filepath.Join(mount, "project", "deep")
	if err := os.MkdirAll(start, 0o700); err != nil {
		t.Fatal(err)
	}
	made, _, err := Init(Env{WorkDir: root, Now: time.Now, Random: rand.Reader}, root)
	if err != nil {
		t.Fatal(err)
	}
	above, err := os.Stat(root)
	if err != nil {
		t.Fatal(err)
	}
	// As if root/mount were a mount
	below := func(_, dir fs.FileInfo) bool { return !os.SameFile(dir, above) }
	if dir, err := findUp(start, "", below, true); dir != "" || err != nil {
		t.Errorf("past the border: %q, %v", dir, err)
	}
	if dir, err := findUp(start, "", sameDevice, true); err != nil || dir != made.Dir {
		t.Errorf("without a border: %q, %v; want %q", dir, err, made.Dir)
	}
	proc, err := os.Stat("/proc/self")
	if err != nil {
		t.Skip("no second file system is known")
	}
	if sameDevice(above, proc) || !sameDevice(above, above) {
		t.Error("sameDevice does not tell two file systems apart")
	}
}
