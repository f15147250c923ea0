package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/session"
)

// placeFinder finds the directories that are this project, too: where it was before it was moved,
// and other checkouts of it.
type placeFinder struct {
	a     *app
	noted []string // where the project was at earlier imports
	own   identity.Checkout
	isGit bool
	rel   string // the project's path in its work tree
}

// findPlaces adds to the spellings of a project's directory the other directories that are this
// project. It says why each of them is. given are those that the user named.
func (a *app) findPlaces(p catalog.Project, noted, given []string) catalog.Project {
	at := p[len(p)-1] // without links
	f := &placeFinder{a: a}
	for _, was := range noted {
		// A store that somebody else made may name any path.
		if of := (catalog.Project{was}); filepath.IsAbs(was) && !of.Has(at) && !of.Has(a.home) {
			f.noted = append(f.noted, was)
		}
	}
	f.own, f.isGit = identity.Of(at)
	if f.isGit {
		rel, err := filepath.Rel(f.own.Dir, at)
		f.rel, f.isGit = rel, err == nil
	}
	out := slices.Clone(p)
	for _, dir := range given {
		if dir = filepath.Clean(a.path(dir)); !out.Has(dir) {
			out = append(out, dir)
		}
	}
	for _, agent := range catalog.All() {
		if agent.Root == nil {
			continue
		}
		root := agent.Root(a.agentEnv())
		if root == "" {
			continue
		}
		for _, place := range agent.Places(root, out) {
			if out.Has(place.Dir) {
				continue
			}
			if why := f.why(&place); why != "" {
				a.say("ctx: import: of %q, too: %s", place.Dir, why)
				out = append(out, place.Dir)
			}
		}
	}
	return out
}

// why says why a directory is this project; "" if it is not.
func (f *placeFinder) why(p *catalog.Place) string {
	_, err := os.Stat(p.Dir)
	switch {
	case err != nil &&
		slices.ContainsFunc(f.noted,
			func(was string) bool { return catalog.Project{was}.Has(p.Dir) }):
		return "the project was there"
	case !f.isGit:
		return ""
	case err != nil:
		remote := identity.Address(p.Remote())
		if remote != "" && slices.Contains(f.own.Remotes, remote) &&
			(f.rel == "." || strings.HasSuffix(p.Dir, string(filepath.Separator)+f.rel)) {
			return "the same remote"
		}
		return ""
	}
	other, ok := identity.Of(p.Dir)
	if !ok || !(catalog.Project{filepath.Join(other.Dir, f.rel)}).Has(p.Dir) ||
		hasStoreUpTo(p.Dir, other.Dir) {
		return ""
	}
	return identity.Same(f.a.c, &f.own, &other)
}

// hasStoreUpTo reports whether a directory, or one above it up to top, has a store: what was said
// there belongs to that store.
func hasStoreUpTo(dir, top string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".gemini", "context", "format")); err == nil {
			return true
		}
		if dir == top || dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// The state in which a store keeps where its project was.
const (
	ownApp   = "ctx"
	pathsKey = "app:paths"
)

// notedPaths returns the directories that the project had at earlier imports.
func notedPaths(s *session.Store) ([]string, error) {
	view, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	list, err := s.Conversation.State(view, conversation.StateNames{App: ownApp})
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, v := range list {
		if v.Key == pathsKey {
			_ = json.Unmarshal(v.Value, &paths) // somebody else may have set it
		}
	}
	return paths, nil
}

// notePaths keeps directories of the project for later imports.
func (a *app) notePaths(s *session.Store, noted, paths []string) error {
	all := slices.Clone(noted)
	for _, path := range paths {
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	if len(all) == len(noted) {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	_, err = s.Conversation.SetState(a.c, conversation.StateNames{App: ownApp},
		[]conversation.StateChange{stateChange(pathsKey, b)})
	return err
}
