//go:build unix

package main

import (
	"os"
	"syscall"
)

// become replaces this process by a program, which keeps its files, signals and process id. It
// returns only if that fails.
func become(dir, path string, args []string) (int, error) {
	if err := os.Chdir(dir); err != nil {
		return 0, err
	}
	return 0, &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, args, os.Environ())}
}
