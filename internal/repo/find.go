package repo

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/identity"
)

// Find returns the absolute path of the store that env names. If StoreDir is set, this is StoreDir
// itself or .gemini/context in it. Otherwise it is the first .gemini/context on the way up from
// WorkDir, with symbolic links in WorkDir resolved. At the root of a linked work tree of git the
// search goes on at the same place in the main work tree; without a store there, it goes further up
// from the linked one. It ends before Home, and where a parent is on another file system.
//
// Errors: ErrNoStore; ErrHalf if the first match is half a store, since a store further up is not
// the one that the user means; *OwnerError if it belongs to another user, even for root, unless
// StoreDir names it; an error of the file system if it cannot be read. Platforms without user ids
// and device numbers skip those two checks.
func Find(env Env) (dir string, err error) {
	if env.StoreDir != "" {
		return findNamed(env)
	}
	if !filepath.IsAbs(env.WorkDir) {
		return "", fmt.Errorf("cannot search for a store: the working directory %q was removed, "+
			"or is not an absolute path", env.WorkDir)
	}
	start := Physical(env.WorkDir)
	dir, err = findUp(start, env.Home, sameDevice, true)
	if err == nil && dir == "" {
		err = fmt.Errorf("%w: %q and the directories above it", ErrNoStore, start)
	}
	return dir, err
}

// findNamed looks in StoreDir. It prefers a whole store to half a store, since a project may well
// have a directory "objects".
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
		return "", halfError(inside)
	case parts[0]:
		return "", halfError(named)
	}
	return "", fmt.Errorf("%w: %q", ErrNoStore, named)
}

// findUp looks in start and the directories above it, up to home, as long as same reports that a
// directory is on the device of start. With trees it goes on from linked work trees to main ones.
// It returns "" if there is no store.
func findUp(
	start, home string, same func(first, above fs.FileInfo) bool, trees bool,
) (string, error) {
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
		if place, linked := mainPlace(dir, start); trees && linked {
			if found, err := findUp(place, home, same, false); found != "" || err != nil {
				return found, err
			}
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
	return "", nil
}

// mainPlace returns the directory of the main work tree that is to it what dir is to a linked work
// tree with the given root, or the lowest one above it that exists. linked is false if root is not
// that of a linked work tree.
func mainPlace(root, dir string) (place string, linked bool) {
	main, linked := identity.MainWorkTree(root)
	if !linked {
		return "", false
	}
	below, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(below) {
		return main, true
	}
	for place = filepath.Join(main, below); place != main; place = filepath.Dir(place) {
		if info := statOrNil(place); info != nil && info.IsDir() {
			break
		}
	}
	return place, true
}

// linkedPlace is mainPlace for a directory anywhere in a linked work tree.
func linkedPlace(dir string) (place string, linked bool) {
	root, _, ok := identity.Enclosing(dir)
	if !ok {
		return "", false
	}
	return mainPlace(root, dir)
}

// look reports whether dir is a store. It returns an error for another user's directory before it
// reads anything in it.
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
		return false, halfError(dir)
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

// Physical returns path without symbolic links, so that a directory has one store on whatever path
// it is reached. It returns path itself if it cannot resolve it.
func Physical(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// statOrNil returns nil for "" and for a path that it cannot read.
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

// ProjectOf returns the directory of the project whose store is in a directory; "" for a store that
// is not at .gemini/context of one.
func ProjectOf(dir string) string {
	project := filepath.Dir(filepath.Dir(dir))
	if filepath.Clean(dir) != storeIn(project) {
		return ""
	}
	return project
}

// SamePlace reports whether two paths lead to one directory.
func SamePlace(a, b string) bool { return same(statOrNil(a), statOrNil(b)) }

// Above returns the store that the project of the store in dir would use without it; "" for none.
func Above(env Env, dir string) string {
	project := filepath.Dir(filepath.Dir(dir))
	parent := filepath.Dir(project)
	if top := statOrNil(env.Home); parent == project || same(statOrNil(project), top) {
		return ""
	}
	above, err := findUp(parent, env.Home, sameDevice, true)
	if err != nil {
		return ""
	}
	return above
}
