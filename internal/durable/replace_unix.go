//go:build unix

package durable

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// newPending makes the temporary file of a file with a fixed name, in the same directory. replace
// closes the temporary file and renames it to path. It also syncs the file, which a Sync step has
// done before.
func newPending(path string, perm fs.FileMode) (file *os.File, replace func() error, err error) {
	p, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)),
		renameio.WithStaticPermissions(perm))
	if err != nil {
		return nil, nil, err
	}
	return p.File, p.CloseAtomicallyReplace, nil
}
