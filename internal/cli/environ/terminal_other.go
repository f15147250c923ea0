//go:build !unix && !windows

package environ

import "os"

func IsTerminal(*os.File) bool { return false }

func Columns(*os.File) int { return 0 }
