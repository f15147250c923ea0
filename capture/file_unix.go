//go:build unix

package capture

import (
	"fmt"
	"os"
	"syscall"
)

// fileID tells files apart, whatever they are called.
func fileID(_ *os.File, info os.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x:%x", st.Dev, st.Ino)
}
