//go:build unix

package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// What has taken the name of a file is refused at once: a pipe is not waited for, by readers or by
// writers.
func TestNotAFile(t *testing.T) {
	make := map[string]func(string) error{
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"loop":      func(path string) error { return os.Symlink(path, path) },
		"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
	}
	var fsys *durable.FS
	for kind, put := range make {
		for name, use := range map[string]func(string) error{
			"open": func(path string) error { _, err := durable.Open(path); return err },
			"read": func(path string) error { _, err := durable.ReadFile(path); return err },
			"at most": func(path string) error {
				_, _, err := durable.OpenAtMost(path, 100)
				return err
			},
			"input": func(path string) error {
				_, err := durable.ReadInput(path, 100)
				return err
			},
			"read some": func(path string) error {
				_, err := durable.ReadAtMost(path, 100)
				return err
			},
			"sync":       fsys.SyncFile,
			"write hint": func(path string) error { return fsys.WriteNoSync(path, []byte("x")) },
			"append hint": func(path string) error {
				return fsys.AppendNoSync(path, []byte("x"), 10000)
			},
			"append": func(path string) error {
				return fsys.AppendSync(path, 4096, []byte("x"))
			},
		} {
			path := filepath.Join(t.TempDir(), "file")
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			if err := use(path); !errors.Is(err, durable.ErrNotFile) {
				t.Errorf("%s of a %s: %v", name, kind, err)
			}
		}
	}
}

// A file that is larger than it may be is refused whatever it says of its size, and one that is as
// large is read.
func TestReadAtMostHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := durable.ReadAtMost(path, 100); err != nil || len(b) != 100 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := durable.ReadAtMost(path, 99); !errors.Is(err, durable.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := durable.ReadAtMost("/proc/self/status",
		10); !errors.Is(err, durable.ErrTooLarge) && !errors.Is(err, os.ErrNotExist) {
		t.Error(err) // says that it is empty
	}
}
