//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// become runs a program with the files of this process, and returns its exit code. The program gets
// interrupts itself, and decides when to end.
func become(dir, path string, args []string) (int, error) {
	signal.Ignore(os.Interrupt)
	cmd := &exec.Cmd{Path: path, Args: args, Dir: dir, Stdin: os.Stdin, Stdout: os.Stdout,
		Stderr: os.Stderr}
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
