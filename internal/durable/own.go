package durable

import (
	"io/fs"
	"os"
)

// openOwn opens for writing a file that stays in place, and creates it with mode 0600 if flags say
// so. If path is a link, it returns ErrNotFile: the file at the end of the link belongs to
// somebody else.
func openOwn(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|NoWait|noFollow, 0o600)
	if linkErr := refuseLink(path); linkErr != nil {
		if err == nil {
			_ = file.Close()
		}
		return nil, linkErr
	}
	return file, err
}

// refuseLink returns ErrNotFile if path is a link.
func refuseLink(path string) error {
	if info, err := os.Lstat(path); err == nil &&
		info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return &fs.PathError{Op: "write through a link", Path: path, Err: ErrNotFile}
	}
	return nil
}
