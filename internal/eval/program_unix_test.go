//go:build unix

package eval

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// A pipe is not waited for, and a device is not read for ever. A test that hangs here is the fault.
func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.messages.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "device.messages.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"pipe.messages.jsonl", "device.messages.jsonl"} {
		var out, errs strings.Builder
		code := RunProgram(t.Context(), repo.Env{WorkDir: dir}, &out, &errs, []string{file})
		if code != command.Failed || !strings.Contains(errs.String(), "not a regular file") {
			t.Errorf("%s: exit code %d: %s", file, code, &errs)
		}
	}
}
