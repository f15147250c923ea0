//go:build unix

package summarizer

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A helper that does not answer is killed with its children, also where those keep its output open.
func TestHelperChildren(t *testing.T) {
	path := filepath.Join(t.TempDir(), "child")
	t.Setenv("CTX_TEST_CHILD", path)
	h := playing(t, "parent")
	h.Answer = 2 * time.Second
	if _, err := h.Summarize(t.Context(), askOf(1)); KindOf(err) != Slow {
		t.Fatalf("got %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if !ended(pid) {
		t.Errorf("child %d still runs", pid)
	}
}

// ended reports whether a process is gone, or is only waiting for somebody to ask how it ended. It was sent SIGKILL; that it takes effect is
// waited for, for at most a minute.
func ended(pid int) bool {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return true
		}
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
			if _, after, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(after, "Z") {
				return true
			}
		}
	}
	return false
}
