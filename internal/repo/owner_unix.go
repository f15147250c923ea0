//go:build unix

package repo

import (
	"io/fs"
	"os"
	"syscall"
)

// otherOwner returns the owner of a file, and whether that is a user other than the one this
// process acts as.
func otherOwner(info fs.FileInfo) (uid uint32, foreign bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, int(st.Uid) != os.Geteuid()
}

func sameDevice(a, b fs.FileInfo) bool {
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return !okX || !okY || x.Dev == y.Dev
}
