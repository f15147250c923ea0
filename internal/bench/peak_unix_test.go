//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
)

// peak returns the most memory that an ended process held, in bytes. The unit of Maxrss is a
// kilobyte, and a byte on macOS.
func peak(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return bytesOf(usage)
}

// ownPeak is peak for this process.
func ownPeak() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return bytesOf(&usage)
}

func bytesOf(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
