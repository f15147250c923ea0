//go:build unix

package summarizer

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A killed helper is killed with its children, even if these keep its output open. The pipe ends
// when none of them holds it any more.
func TestHelperChildren(t *testing.T) { killedWhole(t, "parent") }

// killedWhole runs a helper whose part starts a process and then writes "both" to a pipe. It kills
// the helper and waits until neither process holds the pipe any more.
func killedWhole(t *testing.T, part string) {
	path := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CTX_TEST_ALIVE", path)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		alive, err := os.Open(path)
		if err != nil {
			ended <- err
			return
		}
		defer alive.Close()
		r := bufio.NewReader(alive)
		said, err := r.ReadString('\n')
		if said != "both\n" {
			ended <- err
			return
		}
		cancel()
		_, err = io.Copy(io.Discard, r)
		ended <- err
	}()
	h := playing(t, part)
	if _, err := h.Summarize(ctx, askOf(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
