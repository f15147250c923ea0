package homes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// place is a directory in which sessions begin.
type place struct {
	cwd     string
	project *Project // whose store they belong to; nil for none
}

// layOut makes the projects, and lists the places. Several projects have names that agents write
// alike, some have directories that look like projects, and one is reached by a link.
func (h *Home) layOut() ([]place, error) {
	var places []place
	project := func(name string, git bool) *Project {
		p := &Project{Dir: filepath.Join(h.work, filepath.FromSlash(name)), Git: git}
		h.Projects = append(h.Projects, p)
		places = append(places, place{p.Dir, p})
		return p
	}
	add := func(p *Project, dirs ...string) {
		for _, dir := range dirs {
			places = append(places, place{filepath.Join(h.work, filepath.FromSlash(dir)), p})
		}
	}
	quay := project("quay", true)
	child := project("quay/child", false) // a store inside a project
	project("quay-child", false)
	project("quay.child", false)
	project("data/analysis", true)
	project("data-analysis", true)
	project("数据", false)
	project("码头", true)
	project("notes", false)
	add(quay, "quay/packages/web", "quay/.worktrees/paint", "quay/.claude/worktrees/lamps",
		"quay-feature", "quay-feature/packages/web", "way")
	add(child, "quay/child/src")
	add(nil, "elsewhere", "quay2", "quays", "data", "notes-old")

	for _, p := range places {
		if filepath.Base(p.cwd) == "way" {
			continue
		}
		if err := os.MkdirAll(p.cwd, 0o700); err != nil {
			return nil, err
		}
	}
	for _, p := range h.Projects {
		if p.Git {
			if err := git(p.Dir, "init", "-q"); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range []string{"quay/.worktrees/paint", "quay/.claude/worktrees/lamps",
		"quay-feature"} {
		dir := filepath.Join(h.work, filepath.FromSlash(name))
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
		if err := workTree(quay.Dir, dir); err != nil {
			return nil, err
		}
		h.trees = append(h.trees, dir)
	}
	for _, p := range places {
		if filepath.Base(p.cwd) != "way" {
			if err := os.MkdirAll(p.cwd, 0o700); err != nil {
				return nil, err
			}
		}
	}
	return places, os.Symlink(quay.Dir, filepath.Join(h.work, "way"))
}

// workTree adds a work tree to a repository, which gets a commit if it has none.
func workTree(repository, dir string) error {
	if err := git(repository, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit",
		"-q", "--allow-empty", "-m", "begin"); err != nil {
		return err
	}
	return git(repository, "worktree", "add", "-q", dir, "-b", "w-"+filepath.Base(dir))
}

func git(dir string, args ...string) error {
	c := exec.Command("git", append([]string{"-C", dir}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("homes: git %q in %s: %w: %s", args, dir, err, out)
	}
	return nil
}
