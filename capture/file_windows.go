package capture

import (
	"fmt"
	"os"
	"syscall"
)

// fileID tells files apart, whatever they are called.
func fileID(f *os.File, _ os.FileInfo) string {
	var d syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &d) != nil {
		return ""
	}
	return fmt.Sprintf("%x:%x:%x", d.VolumeSerialNumber, d.FileIndexHigh, d.FileIndexLow)
}
