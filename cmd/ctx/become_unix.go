//go:build unix

package main

import (
	"os"
	"syscall"
)

// become has a program take the place of this process, with its files, its signals and its number: whoever started ctx has that program. It returns
// where that cannot be done only.
func become(dir, path string, args []string) (int, error) {
	if err := os.Chdir(dir); err != nil {
		return 0, err
	}
	return 0, &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, args, os.Environ())}
}
