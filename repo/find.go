package repo

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Find returns the absolute path of the store that env names. With StoreDir that is StoreDir itself or .gemini/context in it.
// Else it is the first .gemini/context on the way up from WorkDir, symbolic links in WorkDir resolved; the search ends at Home,
// which is not looked into, and where a parent is on another file system.
//
// Errors: ErrNoStore; ErrHalf for the first that is half a store, since a store further up is not the one that was meant;
// *OwnerError for one of another user, root's eyes included, unless StoreDir named it; what the file system says, where it will not
// say whether there is one. On platforms without user ids and device numbers those two checks are not made.
func Find(env Env) (dir string, err error) {
	if env.StoreDir != "" {
		return findNamed(env)
	}
	if !filepath.IsAbs(env.WorkDir) {
		return "", fmt.Errorf("cannot search for a store from %q: not an absolute path", env.WorkDir)
	}
	return findUp(physical(env.WorkDir), env.Home, sameDevice)
}

// findNamed looks where StoreDir says. A whole store goes before the parts of one, as a project may well have a folder "objects".
func findNamed(env Env) (string, error) {
	named := env.StoreDir
	if !filepath.IsAbs(named) {
		named = filepath.Join(env.WorkDir, named)
	}
	named = filepath.Clean(named)
	inside := storeIn(named)
	var parts [2]bool
	for i, dir := range []string{named, inside} {
		switch found, err := stateOf(dir); {
		case err != nil:
			return "", err
		case found == whole:
			return dir, nil
		default:
			parts[i] = found == half
		}
	}
	switch {
	case parts[1]:
		return "", fmt.Errorf("%w: %q", ErrHalf, inside)
	case parts[0]:
		return "", fmt.Errorf("%w: %q", ErrHalf, named)
	}
	return "", fmt.Errorf("%w: %q", ErrNoStore, named)
}

// findUp looks in start and the directories above it, up to home and no further than same says that a directory is on the
// device of the first one.
func findUp(start, home string, same func(first, above fs.FileInfo) bool) (string, error) {
	first, err := os.Stat(start)
	if err != nil {
		return "", fmt.Errorf("cannot look for a store: %w", err)
	}
	top := statOrNil(home)
	for dir, info := start, first; ; {
		if top != nil && os.SameFile(info, top) {
			break
		}
		switch found, err := look(storeIn(dir)); {
		case err != nil:
			return "", err
		case found:
			return storeIn(dir), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		if info, err = statThere(parent); err != nil {
			return "", err
		}
		if info == nil || !same(first, info) {
			break
		}
		dir = parent
	}
	return "", fmt.Errorf("%w: %q and the directories above it", ErrNoStore, start)
}

// look reports whether dir is a store. Another user's directory is an error before anything in it is read.
func look(dir string) (bool, error) {
	info, err := statThere(dir)
	if info == nil || !info.IsDir() {
		return false, err
	}
	if err := refuseForeign(dir, info); err != nil {
		return false, err
	}
	switch found, err := stateOf(dir); {
	case err != nil:
		return false, err
	case found == half:
		return false, fmt.Errorf("%w: %q", ErrHalf, dir)
	default:
		return found == whole, nil
	}
}

func refuseForeign(dir string, info fs.FileInfo) error {
	if uid, foreign := otherOwner(info); foreign {
		return &OwnerError{Path: dir, UID: uid}
	}
	return nil
}

// physical returns path without symbolic links, so that one directory has one store however it was reached. Where that cannot
// be told, path itself is as good.
func physical(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// statOrNil returns nil for "" and for what cannot be looked at.
func statOrNil(path string) fs.FileInfo {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}
