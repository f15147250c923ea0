package identity

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// Session is what the records of a session say of where it began.
type Session struct {
	Dir    string // the first directory that they name; "" for none
	Remote string // the address of its repository; "" if they do not say it
	Branch string // likewise
}

// Look finds out whether sessions are a project's. It looks at each directory once.
type Look struct {
	p     Project
	store func(dir string) string
	info  os.FileInfo // of the project's directory

	facts map[string]Facts  // by the directory of a record
	same  map[string]string // by the directory that all work trees of a repository share
	// The places of the project in the work trees that git lists for its repository, without links.
	trees []string
}

// NewLook returns a Look for a project, of which the caller need not set Git. store returns the
// project of the store that a command in a directory would use; "" for none. It may be nil.
func NewLook(p *Project, store func(dir string) string) *Look {
	l := &Look{p: *p, store: store, facts: map[string]Facts{}, same: map[string]string{}}
	if store == nil {
		l.store = func(string) string { return "" }
	}
	l.p.Git, _ = Of(p.Dir)
	l.info, _ = os.Stat(p.Dir)
	for _, tree := range Trees(l.p.Git.Common) {
		tree, _, _ = l.resolve(tree)
		l.trees = append(l.trees, filepath.Join(tree, l.p.rel()))
	}
	l.p.Asked = slices.Clone(p.Asked)
	for i, dir := range p.Asked {
		if real, there, _ := l.resolve(dir); there {
			l.p.Asked[i] = real
		}
	}
	return l
}

// Trees returns the places of the project in linked work trees outside of it that are there.
func (l *Look) Trees() (list []string) {
	for _, at := range l.trees {
		if IsDir(at) && !Below(at, l.p.Dir) {
			list = append(list, at)
		}
	}
	return list
}

// Learn makes a directory outside of the project one that it is known to have had, since a session
// proved it.
func (l *Look) Learn(dir string) {
	if dir == "" || slices.Contains(l.p.Known, dir) {
		return
	}
	l.p.Known = append(l.p.Known, dir)
	maps.DeleteFunc(l.facts, func(_ string, f Facts) bool { return !f.There })
}

// There reports whether a directory that a session names is there.
func (l *Look) There(dir string) bool {
	_, there, _ := l.resolve(filepath.FromSlash(dir))
	return there
}

// Belongs says whether a session is the project's.
func (l *Look) Belongs(s *Session) Verdict {
	f, known := l.facts[s.Dir]
	if !known {
		f = l.at(s.Dir)
		l.facts[s.Dir] = f
	}
	if !f.There && f.Dir != "" {
		f.Remote, f.Branch = Address(s.Remote), hasBranch(l.p.Git.Common, s.Branch)
	}
	return l.p.Belongs(&f)
}

// at gathers the facts of a directory.
func (l *Look) at(dir string) (f Facts) {
	if dir == "" {
		return Facts{}
	}
	if !filepath.IsAbs(filepath.FromSlash(dir)) {
		return Facts{Dir: dir}
	}
	f.Dir, f.There, f.Left = l.resolve(filepath.FromSlash(dir))
	f.Store = l.store(f.Left)
	f.Listed = topOf(l.trees, f.Dir) != ""
	tops := slices.Concat(l.trees, l.p.Known)
	if git, ok := Of(f.Left); ok {
		f.Git = git
		if f.Store == "" && l.p.Git.Common != "" { // else nobody asks
			f.Same = l.sameAs(&git)
		}
		if f.Same != "" {
			tops = append(tops, l.p.in(&git))
		}
	}
	if top := topOf(tops, f.Dir); top != "" && !Below(f.Dir, l.p.Dir) {
		if rel, err := filepath.Rel(top, f.Dir); err == nil {
			_, _, left := l.resolve(filepath.Join(l.p.Dir, rel))
			f.Twin = l.store(left)
		}
	}
	return f
}

// sameAs is Same for the project's checkout and another one.
func (l *Look) sameAs(other *Checkout) string {
	why, known := l.same[other.Common]
	if !known {
		why = same(&l.p.Git, other)
		l.same[other.Common] = why
	}
	return why
}

// resolve returns an absolute path without links as far as it leads somewhere, whether it leads to
// a directory, and what is left of the way to it. What leads to the project's directory in another
// spelling, as file systems without capitals have it, is spelled as that.
func (l *Look) resolve(dir string) (real string, there bool, left string) {
	dir = filepath.Clean(dir)
	rest := ""
	for at := dir; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil && IsDir(found) {
			found = l.respell(found)
			return filepath.Join(found, rest), rest == "", found
		}
		if at == filepath.Dir(at) {
			return dir, false, at
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func (l *Look) respell(dir string) string {
	if l.info == nil || Below(dir, l.p.Dir) {
		return dir
	}
	rest := ""
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if strings.EqualFold(filepath.Base(at), filepath.Base(l.p.Dir)) {
			if info, err := os.Stat(at); err == nil && os.SameFile(info, l.info) {
				return filepath.Join(l.p.Dir, rest)
			}
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
	return dir
}

// IsDir reports whether there is a directory.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Trees returns the linked work trees that a repository lists, also those that are gone and that
// git has not forgotten yet.
func Trees(common string) (dirs []string) {
	if common == "" {
		return nil
	}
	list, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return nil // there are none
	}
	for _, entry := range list {
		at := filepath.Join(common, "worktrees", entry.Name())
		b, err := durable.ReadAtMost(filepath.Join(at, "gitdir"), maxConfig)
		if git := strings.TrimSpace(string(b)); err == nil && git != "" {
			dirs = append(dirs, filepath.Dir(under(at, git)))
		}
	}
	return dirs
}

// maxPacked is the most that is read of a file with the refs of a repository.
const maxPacked = 16 << 20

// hasBranch reports whether a repository has a branch, as its files say. The name of a first branch
// says nothing: any repository has one.
func hasBranch(common, branch string) bool {
	if common == "" || branch == "" || branch == "main" || branch == "master" ||
		branch == "HEAD" || !filepath.IsLocal(filepath.FromSlash(branch)) {
		return false
	}
	if _, err := os.Stat(filepath.Join(common, "refs", "heads",
		filepath.FromSlash(branch))); err == nil {
		return true
	}
	b, err := durable.ReadAtMost(filepath.Join(common, "packed-refs"), maxPacked)
	return err == nil && strings.Contains(string(b), " refs/heads/"+branch+"\n")
}
