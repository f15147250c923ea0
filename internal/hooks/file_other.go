//go:build !unix && !windows

package hooks

import "os"

// fileID returns "": the system has no identity of files here.
func fileID(*os.File, os.FileInfo) string { return "" }
