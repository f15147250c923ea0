package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The names in a project and in a store.
const (
	agentName  = ".gemini"
	storeName  = "context"
	formatName = "format"
	configName = "config.toml"
	ignoreName = ".gitignore"
	keyName    = "key"
)

// ignoreAll is the store's .gitignore. It keeps the store out of git and, in a git work tree, out of the agent's own searches
// and its list of the project's files, without a change to any file of the user's.
const ignoreAll = "*\n"

// folders returns the directories of a store that no other package makes.
func folders() []string { return []string{"absent", "cache", "log", "tmp"} }

// parts returns names that tell a store whose making was cut short from a directory that only has the store's name. All are made
// by Init alone.
func parts() []string { return []string{keyName, "objects", "refs"} }

// storeIn returns where a project's store is.
func storeIn(project string) string { return filepath.Join(project, agentName, storeName) }

// state says how much of a store a directory is.
type state int

const (
	nothing state = iota // no store, or not even a directory
	half                 // parts of a store, but no format file
	whole                // a format file; whether it can be read is another question
)

// stateOf looks at the names in dir. What the file system says of one that it will not look at is an error: a store that is there is not to be taken for none.
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

// statThere looks at a path; it returns nil and no error where there is nothing.
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
