//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// OwnGroup makes a command that is not started yet run in a process group of its own, so that a
// signal to ctx from the terminal does not reach it, and KillGroup reaches what it starts.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills the process group of a started command. No process may be left.
func KillGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
