package repo

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/internal/identity"
)

// excludeLine keeps every store of a repository out of `git status` and `git add`: git does not
// read the .gitignore of a store that has a marker.
const excludeLine = "**/" + agentName + "/" + storeName + "/"

// Shield is what keeps `git clean -fdx` from a store.
type Shield int

const (
	// NoGit says that the store is in no work tree of git.
	NoGit Shield = iota
	// Shielded says that git clean leaves the store alone, unless it is given -f twice.
	Shielded
	// Bare says that git clean removes the store.
	Bare
	// InLinked says that the store is in a linked work tree: `git worktree remove` removes it.
	InLinked
)

// Shielded returns what keeps `git clean` from the store. It writes nothing.
func (r *Repo) Shielded() Shield {
	root, common, ok := identity.Enclosing(filepath.Dir(r.Dir))
	if !ok {
		return NoGit
	}
	if _, linked := identity.MainWorkTree(root); linked {
		return InLinked
	}
	if !r.marked() || !isExcluded(common, excludeLine) {
		return Bare
	}
	return Shielded
}

// shieldOnce puts up the shield at the first change. A store may have been made before its
// repository, or come to another one. That it fails is no reason not to record: status says so.
func (r *Repo) shieldOnce() { r.shield.Do(func() { _ = r.PutShield() }) }

// PutShield makes git clean pass the store over, if the store is in a work tree of git: it writes
// the name of the store into info/exclude of the repository, and a marker into the store. Without
// the first `git add` would refuse a directory with the second. After an error there is no new
// marker.
func (r *Repo) PutShield() error {
	_, common, ok := identity.Enclosing(filepath.Dir(r.Dir))
	if !ok {
		return nil
	}
	err := exclude(r.FS, common, "", excludeLine)
	if err == nil && !r.marked() {
		err = r.mark()
	}
	if err != nil {
		return fmt.Errorf("cannot keep git clean from the store: %w", err)
	}
	return nil
}

// markerParts are the directories of a marker: with HEAD, git takes a .git for a repository.
func markerParts() []string { return []string{"", "objects", "refs"} }

// marked reports whether the store has its marker, whole.
func (r *Repo) marked() bool {
	git := filepath.Join(r.Dir, markerName)
	for _, part := range markerParts() {
		info, err := os.Lstat(filepath.Join(git, part))
		if err != nil || !info.IsDir() {
			return false
		}
	}
	_, err := os.Lstat(filepath.Join(git, "HEAD"))
	return err == nil
}

// mark writes the marker, or what is missing of it: some programs that copy files leave out empty
// directories.
func (r *Repo) mark() error {
	git := filepath.Join(r.Dir, markerName)
	for _, part := range markerParts() {
		dir := filepath.Join(git, part)
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return &CorruptError{Path: dir, Why: "not a directory"}
		}
		if err := mkdir(r.FS, dir); err != nil {
			return err
		}
	}
	head := filepath.Join(git, "HEAD")
	if !absent(head) {
		return nil
	}
	return r.FS.WriteFile(head, []byte(identity.MarkerHEAD), 0o600, false)
}
