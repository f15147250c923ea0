//go:build !unix

package bench

import "os"

func peak(*os.ProcessState) int64 { return 0 }

func ownPeak() int64 { return 0 }
