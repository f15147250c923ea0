package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
)

// lookFor returns what tells which sessions are those of the project of a store. known are the
// directories that the store has noted, and asked those that the user names.
func (a *app) lookFor(s *session.Store, known, asked []string) (*identity.Look, identity.Project) {
	p := identity.Project{Dir: a.projectDir(s), Home: a.home, Asked: asked}
	for _, path := range []*string{&p.Dir, &p.Home} {
		if real, err := filepath.EvalSymlinks(*path); err == nil && *path != "" {
			*path = real
		}
	}
	for _, dir := range known {
		// A store that somebody else made may name any path.
		if !identity.Below(p.Dir, dir) && !identity.Below(p.Home, dir) {
			p.Known = append(p.Known, dir)
		}
	}
	return identity.NewLook(&p, a.storeIn), p
}

// storeIn returns the project of the store that a command in a directory would use; "" for none. A
// store that cannot be used counts.
func (a *app) storeIn(dir string) string {
	env := a.env()
	env.WorkDir, env.StoreDir = dir, ""
	found, err := repo.Find(env)
	switch {
	case err == nil:
		return cmp.Or(repo.ProjectOf(found), dir)
	case errors.Is(err, repo.ErrNoStore):
		return ""
	}
	return dir
}

// pick returns the transcripts of the project among those of this machine, agent by agent. It says
// which other directories are the project and why, and what it leaves out. outside are those
// directories; leaves reports whether it has said that something is left out.
func (a *app) pick(
	here *sessionsHere, look *identity.Look, p *identity.Project,
) (list []found, outside []string, leaves bool) {
	also := slices.Concat([]string{p.Dir}, p.Asked, p.Known)
	left := leftOut{}
	for i, j := range catalog.Judge(here.all, look, also) {
		switch {
		case j.Ours:
			list = append(list, here.of[i])
			if j.Of != "" && !slices.Contains(outside, j.Of) {
				outside = append(outside, j.Of)
				a.say("ctx: import: of %q, too: %s", j.Of, j.Why)
			}
		case j.Parent == "" && j.Why != "":
			left[j.Verdict]++
		}
	}
	if len(left) > 0 && a.here == nil { // else these get their turn
		a.say("ctx: import: left out: %s", left.text(p.Dir))
	}
	return list, outside, len(left) > 0 && a.here == nil
}

// sessionsHere are all transcripts of this machine.
type sessionsHere struct {
	all    []catalog.Begun
	of     []found  // what an import needs of each of all
	looked string   // names the directories in which agents keep their files
	unread []string // the databases that cannot be read
	closed bool     // a database tells of no session, or cannot be opened here
}

func (a *app) sessionsHere(s *session.Store, q *catalog.Asker) *sessionsHere {
	here := &sessionsHere{}
	var dirs []string
	for i := range catalog.All() {
		agent := &catalog.All()[i]
		for _, dir := range agent.Worked(a.agentEnv()) {
			here.addListed(a, s, q, agent, dir)
		}
		if agent.Root == nil {
			continue
		}
		root := agent.Root(a.agentEnv())
		if root == "" {
			continue
		}
		if dir := fmt.Sprintf("%q", root); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		for _, b := range agent.Sessions(root, nil) {
			here.all = append(here.all, b)
			here.of = append(here.of, found{agent: agent.Name, file: b.File})
		}
		if agent.Database != nil && !agent.Database.Within {
			here.addListed(a, s, q, agent, root)
		}
	}
	here.looked = strings.Join(dirs, ", ")
	if len(dirs) == 0 {
		here.looked = "no directory: there is no home directory"
	}
	return here
}

// addListed adds the sessions in the database of an agent below a directory, but for those that the
// agent has a transcript of: its hooks may have recorded that one.
func (h *sessionsHere) addListed(
	a *app, s *session.Store, q *catalog.Asker, agent *catalog.Agent, dir string,
) {
	listed, ok := a.inDatabase(s, q, agent, dir)
	path := agent.Database.Path(dir)
	if !ok {
		h.unread = append(h.unread, path)
	}
	h.closed = h.closed || path != "" && len(listed) == 0
	files := map[string]bool{}
	for _, f := range h.of {
		if f.agent == agent.Name {
			files[agent.NameOf(f.file)] = true
		}
	}
	for _, one := range listed {
		if files[one.ID] {
			continue
		}
		if agent.Database.Within {
			one.Directory = dir
		}
		file := one.File(path)
		h.all = append(h.all, catalog.Begun{File: file,
			Session: identity.Session{Dir: one.Directory}})
		h.of = append(h.of, found{agent: agent.Name, file: file, listed: &one})
	}
}

// within adds the transcripts that agents keep in directories of a project.
func (h *sessionsHere) within(
	a *app, s *session.Store, q *catalog.Asker, dirs []string,
) *sessionsHere {
	more := *h
	more.all, more.of = slices.Clip(h.all), slices.Clip(h.of)
	more.unread = slices.Clip(h.unread)
	for i := range catalog.All() {
		agent := &catalog.All()[i]
		for _, dir := range dirs {
			for _, b := range agent.SessionsWithin(dir) {
				more.all = append(more.all, b)
				more.of = append(more.of, found{agent: agent.Name, file: b.File})
			}
			if agent.Database != nil && agent.Database.Within &&
				!slices.Contains(agent.Worked(a.agentEnv()), dir) {
				more.addListed(a, s, q, agent, dir)
			}
		}
	}
	return &more
}

// failed returns the error for what cannot be read; nil if all can.
func (h *sessionsHere) failed() error {
	if len(h.unread) == 0 {
		return nil
	}
	return fmt.Errorf("the sessions in %q were not read", h.unread)
}

// leftOut counts the sessions that an import leaves out, by the reason.
type leftOut map[identity.Verdict]int

// maxNamed is how many directories are named of which sessions are left out.
const maxNamed = 8

// text says what is left out. Directories in the project's are named from there.
func (l leftOut) text(project string) string {
	var named, rest []string
	more := 0
	for v, n := range l {
		sessions := plural(n, "session", "sessions")
		if v.Of == "" {
			rest = append(rest, sessions+" "+v.Why)
			continue
		}
		dir := v.Of
		if rel, err := filepath.Rel(project, dir); err == nil && filepath.IsLocal(rel) {
			dir = rel
		}
		line := fmt.Sprintf("%s of %q: %s", sessions, dir, v.Why)
		if v.Asking {
			line += fmt.Sprintf("; `ctx import --all --path %q` takes them", v.Of)
		}
		named = append(named, line)
	}
	slices.Sort(named)
	slices.Sort(rest)
	if len(named) > maxNamed {
		more, named = len(named)-maxNamed, named[:maxNamed]
		named = append(named, "sessions of "+plural(more, "other directory", "other directories"))
	}
	return strings.Join(append(named, rest...), "; ")
}

// The state in which a store keeps where its project was, and what else it has sessions of.
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
	list, err := s.State.Get(view, state.Names{App: ownApp})
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
	_, err = s.State.Set(a.c, state.Names{App: ownApp},
		[]state.Change{stateChange(pathsKey, b)})
	return err
}
