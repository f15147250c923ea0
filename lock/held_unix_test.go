//go:build unix

package lock_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/lock"
)

// The lock may be anything that can be locked. Opening it does not wait.
func TestLockIsAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "lock"), 0o600); err != nil {
		t.Fatal(err)
	}
	if held, err := lock.Acquire(context.Background(), nil, dir, time.Second,
		lock.Owner{}); err == nil {
		if err := held.Release(); err != nil {
			t.Error(err)
		}
	}
}
