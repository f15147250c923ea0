package main

import (
	"os"
	"syscall"
)

const (
	memory     = "/dev/shm"
	leastRoom  = 1 << 30 // bytes; all temporary files of a run take less
	flagNoExec = 0x8     // ST_NOEXEC of statvfs(3)
)

// inMemory has temporary files kept in memory, which halves the time of the tests: most of it goes
// into directories and syncs. The tests of package faults are for real disks. It does nothing where
// TMPDIR is set, or where the memory has little room or may hold no programs. remove removes the
// files.
func inMemory() (remove func()) {
	remove = func() {}
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &fs) != nil {
		return remove
	}
	if fs.Flags&flagNoExec != 0 || fs.Bavail*uint64(fs.Bsize) < leastRoom {
		return remove
	}
	dir, err := os.MkdirTemp(memory, "ctx-test-")
	if err != nil || os.Setenv("TMPDIR", dir) != nil {
		return remove
	}
	return func() { _ = os.RemoveAll(dir) }
}
