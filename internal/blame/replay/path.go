package replay

import (
	"path"
	"strings"
)

// Project is where the file that is asked about is.
type Project struct {
	Root string // the directory of the project, absolute, with slashes
	// HasDir reports whether the project has a directory of this name, under Root.
	HasDir func(name string) bool
}

// Checkout returns the directory of the project that a path belongs to, if the path is that of the
// file that the project calls name. dir is the directory in which the agent worked; "" if it is not
// known. A project that was moved, or another checkout of it, has another directory: the path ends
// in name, and what stands before it is where the agent worked, or above that within the project.
// Of a path that is relative, and of no known directory, the checkout is "".
func (p *Project) Checkout(file, dir, name string) (root string, ok bool) {
	file, dir = clean(slashes(file)), strings.TrimSuffix(slashes(dir), "/")
	if !isAbs(file) {
		return "", file == name || file == path.Base(p.Root)+"/"+name &&
			p.isNamed(path.Base(p.Root))
	}
	root, ok = strings.CutSuffix(file, "/"+name)
	switch {
	case !ok:
		return "", false
	case root == p.Root || dir == "" || root == dir:
		return root, true
	}
	// The agent worked in a directory of the project
	if below, in := strings.CutPrefix(dir, root+"/"); in {
		return root, p.HasDir(below)
	}
	if below, in := strings.CutPrefix(root, dir+"/"); in { // a worktree in the project
		if below == path.Base(dir) && p.isNamed(below) {
			return dir, true
		}
		return root, strings.Contains(below, "worktree")
	}
	// The agent worked elsewhere, for example in another worktree. A name without a directory is in
	// too many projects.
	return root, strings.Contains(name, "/") && path.Base(root) == path.Base(p.Root)
}

// isNamed reports whether the name of a project before that of a file can be that of the project
// itself, as Zed writes it, because no directory in it has this name.
func (p *Project) isNamed(name string) bool { return !p.HasDir(name) }
