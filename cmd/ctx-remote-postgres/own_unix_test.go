//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// command is a program of PostgreSQL, run as the user that the server's directory belongs to, in a
// process group of its own.
func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if info, err := os.Stat(s.dir); err == nil && os.Geteuid() == 0 {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: st.Uid, Gid: st.Gid}
		}
	}
	return cmd
}
