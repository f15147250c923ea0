package identity

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Project is the directory that a store is for, and what its user and the store say of it.
type Project struct {
	Dir  string   // without links
	Home string   // the user's home directory, without links; "" for none
	Git  Checkout // that Dir is in; zero without git
	// Asked are the directories of which sessions are asked for; all that belong if there are none.
	// One outside of Dir is the project, too, because the user says so.
	Asked []string
	// Known are directories outside of Dir in which the project was, or of which its store has
	// sessions. They count once nothing is there any more.
	Known []string
}

// Facts are what the disk says of a directory in which a session began.
type Facts struct {
	Dir   string   // clean, and without links as far as it leads anywhere; "" for none
	There bool     // whether it is there
	Left  string   // what is left of the way to it: Dir, or the nearest directory above it
	Store string   // the project of the store that is used in Left; "" for none
	Git   Checkout // that Left is in
	// Twin is the project of the store that is used in the project where Dir is in another checkout.
	Twin   string
	Same   string // why that is a checkout of the project's repository, as same says
	Listed bool   // git lists it, or one above it, as a work tree of the project's repository
	Remote string // the address of its repository, as the session says
	Branch bool   // the session says a branch that the project's repository has
}

// Verdict says whether a session is the project's.
type Verdict struct {
	Ours bool
	// Why is the reason, for a person. There is none for a session that began in the project's own
	// directory, and for one that was not asked for. It follows the name of Of, or without that the
	// number of sessions.
	Why string
	// Of is the directory that the reason is about, where a person should know it: of a session that
	// is the project's, a directory outside of the project; of another one, a directory inside, or
	// one that may well be the project's.
	Of string
	// Asking says that the user has to ask for the sessions of Of.
	Asking bool
}

// The reasons of a verdict.
const (
	whyNone      = "of unknown directories"
	whyAsked     = "you named it"
	whyForeign   = "of other projects"
	whyOwnStore  = "it has a store of its own"
	whyOwnRepo   = "it is a repository of its own inside the home directory"
	whyWasThere  = "the project was there"
	whyTree      = "the same repository"
	whyRemote    = "the same remote"
	whyClone     = "a clone of the same repository"
	whyBranch    = "it is gone, and a branch of this repository was checked out there"
	whyElsewhere = "from another system"
)

// Belongs is the one rule for all agents and all hooks: a session is the project's if it began in
// the project's directory or below it, or in a checkout of the same repository of git, and no other
// store is used there. What was taken once is taken again when it is gone. It only reads its
// arguments.
func (p *Project) Belongs(f *Facts) Verdict {
	if f.Dir == "" {
		return Verdict{Why: whyNone}
	}
	if top := topOf(p.Asked, f.Dir); top != "" {
		if f.Store != "" && f.Store != top && Below(f.Store, top) {
			return Verdict{Why: whyOwnStore, Of: f.Store}
		}
		if Below(top, p.Dir) {
			return Verdict{Ours: true}
		}
		return Verdict{Ours: true, Why: whyAsked, Of: top}
	}
	if slices.ContainsFunc(p.Asked, func(dir string) bool { return Below(dir, p.Dir) }) {
		return Verdict{}
	}
	if Below(f.Dir, p.Dir) {
		return p.inside(f)
	}
	v := p.outside(f)
	if v.Ours && f.Twin != "" && f.Twin != p.Dir && Below(f.Twin, p.Dir) {
		return Verdict{Why: whyOwnStore, Of: f.Twin}
	}
	return v
}

// outside judges a directory outside of the project's.
func (p *Project) outside(f *Facts) Verdict {
	if !f.There {
		if v := p.gone(f); v.Ours || v.Asking {
			return v
		}
	}
	switch top := p.in(&f.Git); {
	case !filepath.IsAbs(f.Dir):
		return Verdict{Why: whyElsewhere}
	case f.Store == p.Dir:
		return Verdict{Ours: true, Why: whyTree, Of: cmp.Or(top, f.Dir)}
	case f.Store == "" && f.Same != "" && Below(f.Dir, top):
		return Verdict{Ours: true, Why: f.Same, Of: top}
	}
	return Verdict{Why: whyForeign}
}

// inside judges a directory in the project's.
func (p *Project) inside(f *Facts) Verdict {
	switch {
	case f.Store != "" && !Below(p.Dir, f.Store):
		return Verdict{Why: whyOwnStore, Of: f.Store}
	case p.wide() && f.Git.Dir != p.Dir && Below(f.Git.Dir, p.Dir) &&
		f.Git.Common != p.Git.Common && f.Store != p.Dir:
		return Verdict{Why: whyOwnRepo, Of: f.Git.Dir, Asking: true}
	}
	return Verdict{Ours: true}
}

// gone judges a directory outside of the project that is not there any more.
func (p *Project) gone(f *Facts) Verdict {
	rel := p.rel()
	switch top := topOf(p.Known, f.Dir); {
	case top != "" && !Below(f.Left, top): // else something else is there now
		return Verdict{Ours: true, Why: whyWasThere, Of: top}
	case f.Listed:
		return Verdict{Ours: true, Why: whyTree, Of: f.Dir}
	case f.Remote != "" && slices.Contains(p.Git.Remotes, f.Remote) &&
		(rel == "." || strings.HasSuffix(f.Dir, string(filepath.Separator)+rel)):
		return Verdict{Ours: true, Why: whyRemote, Of: f.Dir}
	case f.Branch && f.Git.Dir == "" && f.Store == "":
		return Verdict{Why: whyBranch, Of: f.Dir, Asking: true}
	}
	return Verdict{}
}

// wide reports whether the project's directory has the user's home directory in it, and so all of
// the user's projects.
func (p *Project) wide() bool { return p.Home != "" && Below(p.Home, p.Dir) }

// rel returns the path of the project in its checkout.
func (p *Project) rel() string {
	if rel, err := filepath.Rel(p.Git.Dir, p.Dir); err == nil && p.Git.Dir != "" {
		return rel
	}
	return "."
}

// in returns the directory that is to another checkout what the project's is to its own.
func (p *Project) in(other *Checkout) string {
	if other.Dir == "" {
		return ""
	}
	return filepath.Join(other.Dir, p.rel())
}

// topOf returns the first of some directories that dir is, or is in; "" for none.
func topOf(tops []string, dir string) string {
	for _, top := range tops {
		if Below(dir, top) {
			return top
		}
	}
	return ""
}

// Below reports whether a clean path is top, or in it. A path of Windows is in another one however
// both spell capitals and separators, on any system: records travel.
func Below(dir, top string) bool {
	if dir == "" || top == "" {
		return false
	}
	dir, top = spelled(dir), strings.TrimSuffix(spelled(top), "/")
	return strings.HasPrefix(dir, top) && (len(dir) == len(top) || dir[len(top)] == '/')
}

// spelled returns a path with slashes, and one of Windows in small letters.
func spelled(path string) string {
	drive := len(path) > 1 && path[1] == ':' && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z'
	if drive || strings.HasPrefix(path, `\\`) {
		return strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	}
	return filepath.ToSlash(path)
}
