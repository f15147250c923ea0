package identity

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// MarkerHEAD is the HEAD of a marker: a .git of a store that is no repository. It has git treat the
// store as a repository inside another one, which git clean skips. A repository never has this
// branch.
const MarkerHEAD = "ref: refs/heads/a-store-of-ctx-and-no-repository\n"

// maxHEAD is more than the length of any HEAD.
const maxHEAD = 4096

// isRepository reports whether a directory of git is that of a repository, and no marker.
func isRepository(git string) bool {
	head := filepath.Join(git, "HEAD")
	if _, err := os.Lstat(head); err != nil {
		return false
	}
	b, err := durable.ReadAtMost(head, maxHEAD)
	return err != nil || string(b) != MarkerHEAD
}

// Enclosing returns the work tree that a directory is in, and the directory that all work trees of
// the repository share. ok is false where there is no git.
func Enclosing(dir string) (root, common string, ok bool) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if common := commonDir(filepath.Join(at, ".git")); common != "" {
			return at, common, true
		}
		if at == filepath.Dir(at) {
			return "", "", false
		}
	}
}

// MainWorkTree returns the main work tree of the repository that the linked work tree in dir
// belongs to. For a bare repository it is the directory that has the repository as its .git, or
// else the repository itself. ok is false if dir is not the root of a linked work tree, if the
// repository does not list it, since a .git file may come from anybody, or if git does not note
// where the main work tree is.
func MainWorkTree(dir string) (root string, ok bool) {
	link := filepath.Join(dir, ".git")
	git, ok := linked(link)
	if !ok || !lists(git, link) {
		return "", false
	}
	common := commonDir(link)
	if common == "" {
		return "", false
	}
	core := settingsOf(common)
	above := filepath.Dir(common)
	switch {
	case core["worktree"] != "":
		root = under(common, core["worktree"])
	case filepath.Base(common) == ".git" || commonDir(filepath.Join(above, ".git")) == common:
		root = above
	case strings.EqualFold(core["bare"], "true"):
		root = common
	default: // of `git init --separate-git-dir`
		return "", false
	}
	info, err := os.Stat(root)
	return root, err == nil && info.IsDir()
}

// linked returns the directory that git keeps for the linked work tree with a .git file. ok is
// false for any other .git.
func linked(link string) (git string, ok bool) {
	info, err := os.Stat(link)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	if git, ok = readLink(link); !ok {
		return "", false
	}
	_, err = os.Stat(filepath.Join(git, "commondir"))
	return git, err == nil
}

// readLink returns the directory that a .git file names.
func readLink(link string) (git string, ok bool) {
	b, err := durable.ReadAtMost(link, maxConfig)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:")
	if err != nil || !ok {
		return "", false
	}
	return under(filepath.Dir(link), strings.TrimSpace(to)), true
}

// lists reports whether what a repository keeps of a linked work tree names the .git file of it.
func lists(git, link string) bool {
	b, err := durable.ReadAtMost(filepath.Join(git, "gitdir"), maxConfig)
	if err != nil {
		return false
	}
	there, err := os.Stat(under(git, strings.TrimSpace(string(b))))
	if err != nil {
		return false
	}
	here, err := os.Stat(link)
	return err == nil && os.SameFile(here, there)
}

// settingsOf returns the settings of the section core of a repository.
func settingsOf(common string) map[string]string {
	core := map[string]string{}
	b, err := durable.ReadAtMost(filepath.Join(common, "config"), maxConfig)
	if err != nil {
		return core
	}
	eachSetting(b, func(section, name, value string) {
		if section == "core" {
			core[name] = value
		}
	})
	return core
}
