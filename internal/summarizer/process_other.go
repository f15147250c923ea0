//go:build !unix

package summarizer

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills a process. Its children see their pipes close.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
