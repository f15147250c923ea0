//go:build !unix

package main

import (
	"os/exec"
	"path/filepath"
)

// command is a program of PostgreSQL.
func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	return cmd
}
