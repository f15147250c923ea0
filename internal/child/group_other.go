//go:build !unix

package child

import "os/exec"

// OwnGroup does nothing: this system has no process groups.
func OwnGroup(*exec.Cmd) {}

// KillGroup kills the process of a started command. Its children see their pipes close.
func KillGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
