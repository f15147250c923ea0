package lock

import (
	"io/fs"
	"os"
)

// openOwn opens a file that stays in place to write to it, mode 0600 where it is made. Where the name is a link that is ErrNotFile: the
// file at its end is somebody else's.
func openOwn(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|atOnce|noFollow, 0o600)
	if linkErr := refuseLink(path); linkErr != nil {
		if err == nil {
			_ = file.Close()
		}
		return nil, linkErr
	}
	return file, err
}

// refuseLink returns ErrNotFile where path is a link.
func refuseLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return &fs.PathError{Op: "write through a link", Path: path, Err: ErrNotFile}
	}
	return nil
}
