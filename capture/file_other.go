//go:build !unix && !windows

package capture

import "os"

// fileID says nothing where the system tells no files apart: their bytes are looked at all the same.
func fileID(*os.File, os.FileInfo) string { return "" }
