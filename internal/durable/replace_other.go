//go:build !unix

package durable

import (
	"io/fs"
	"os"
	"path/filepath"
)

// newPending makes the temporary file of a file with a fixed name, in the same directory. replace
// closes the temporary file and renames it to path.
func newPending(path string, perm fs.FileMode) (file *os.File, replace func() error, err error) {
	file, err = createTemp(filepath.Dir(path), perm)
	if err != nil {
		return nil, nil, err
	}
	return file, func() error {
		if err := file.Close(); err != nil {
			return err
		}
		return rename(file.Name(), path)
	}, nil
}
