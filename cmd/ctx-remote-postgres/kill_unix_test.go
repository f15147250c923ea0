//go:build unix

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// kill kills the server with all its processes at once.
func (s *server) kill(t *testing.T) {
	t.Helper()
	pid := s.running.Process.Pid
	// Linux; elsewhere they notice
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for child := range strings.FieldsSeq(string(children)) {
		var n int
		if _, err := fmt.Sscan(child, &n); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
}
