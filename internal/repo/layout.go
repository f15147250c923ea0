package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gemini-ctx/ctx/objects"
)

// The names of files and directories in a project and in a store.
const (
	agentName  = ".gemini"
	storeName  = "context"
	formatName = "format"
	configName = "config.toml"
	ignoreName = ".gitignore"
	keyName    = "key"
	markerName = ".git" // of a directory that keeps git clean from the store, see PutShield
)

// ignoreAll is the store's .gitignore. It keeps the store out of git and, in a git work tree, out
// of the agent's searches and its list of files, without a change to any file of the user.
const ignoreAll = "*\n"

// parts returns names that tell half a store from a directory that only has the name of a store.
// Only Init creates them.
func parts() []string { return []string{keyName, objects.Dir, "refs"} }

// storeIn returns the path of a project's store.
func storeIn(project string) string { return filepath.Join(project, agentName, storeName) }

// state says how much of a store a directory is.
type state int

const (
	nothing state = iota // no store, or not even a directory
	half                 // parts of a store, but no format file
	whole                // a format file; whether it can be read is another question
)

// stateOf looks at the names in dir. If the file system refuses to look at one, it returns an
// error, so that an existing store does not count as absent.
func stateOf(dir string) (state, error) {
	if there, err := exists(filepath.Join(dir, formatName)); there || err != nil {
		return whole, err
	}
	for _, part := range parts() {
		if there, err := exists(filepath.Join(dir, part)); there || err != nil {
			return half, err
		}
	}
	return nothing, nil
}

func exists(path string) (bool, error) {
	info, err := statThere(path)
	return info != nil, err
}

// statThere returns the file info of a path, or nil if the path does not exist.
func statThere(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot look for a store: %w", err)
	}
	return info, nil
}
