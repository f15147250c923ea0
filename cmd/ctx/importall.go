package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/identity"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
)

// withoutRemoved leaves out the transcripts of sessions that somebody has removed from the store,
// and says how many there are. To name a file brings it back.
func (a *app) withoutRemoved(s *session.Store, list []found) ([]found, error) {
	view, err := s.Refs.Read()
	if err != nil || len(view.Names(history.RemovedRefs)) == 0 {
		return list, err
	}
	before := len(list)
	list = slices.DeleteFunc(list, func(f found) bool {
		_, removed := a.goes(s, f)
		return removed
	})
	if n := before - len(list); n > 0 {
		a.say("ctx: import: left out: %s; `ctx import FILE` brings one back",
			plural(n, "transcript of a session that was removed",
				"transcripts of sessions that were removed"))
	}
	return list, nil
}

// withoutMoved leaves out what another store of this user has that was in the place of this one and
// is elsewhere now: it was said in that project.
func (a *app) withoutMoved(s *session.Store, list []found) ([]found, error) {
	before := s.Moved(a.env())
	if len(before) == 0 {
		return list, nil
	}
	own, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	for _, other := range a.storesOf(before, s.Dir) {
		view, err := other.Refs.Read()
		if err != nil {
			a.skip(other.Dir, err)
			continue
		}
		n := len(list)
		list = slices.DeleteFunc(list, func(f found) bool {
			name, removed := a.goes(other, f)
			return (removed || len(history.BranchesIn(view, name)) > 0) &&
				len(history.BranchesIn(own, name)) == 0
		})
		if n -= len(list); n > 0 {
			a.say("ctx: import: left out: %s of the project in %q, which was here before",
				plural(n, "session", "sessions"), repo.ProjectOf(other.Dir))
		}
	}
	return list, nil
}

// storesOf opens the stores with some ids, but not the one in dir. It looks where this user has
// stores, and beside dir's project.
func (a *app) storesOf(ids []string, dir string) (stores []*session.Store) {
	list, _ := repo.AllowedStores(a.env())
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(repo.ProjectOf(dir)), "*"))
	for _, one := range list {
		paths = append(paths, one.Path)
	}
	seen := []string{dir}
	for _, path := range paths {
		env := a.env()
		env.StoreDir = path
		r, err := repo.Open(env)
		if err != nil {
			continue // there is none
		}
		if !slices.Contains(ids, r.ID) || slices.Contains(seen, r.Dir) {
			_ = r.Close()
			continue
		}
		seen = append(seen, r.Dir)
		stores = append(stores, session.New(r))
		a.keep(stores[len(stores)-1])
	}
	return stores
}

// goes returns the session of a store that a transcript goes into, and whether it was removed.
func (a *app) goes(s *session.Store, f found) (session string, removed bool) {
	if f.listed != nil {
		return s.Importer.Goes(
			func(emit func(transcript.Step) error) (transcript.Stats, error) {
				return transcript.Stats{}, emit(transcript.Step{Session: f.listed.ID})
			})
	}
	source, closeIt, err := a.openImport(f.file)
	if err != nil {
		return "", false // the import says what is wrong
	}
	defer closeIt()
	agent, _ := catalog.Named(f.agent)
	return s.Importer.Goes(a.transcript(&agent, f.file, source))
}

// withoutCopies leaves out the copies of sessions that the store has from the agents that had them
// first, or will have by this import.
func (a *app) withoutCopies(s *session.Store, list []found) (kept []found, err error) {
	view, err := s.Refs.Read()
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		agent, _ := catalog.Named(f.agent)
		id := ""
		if agent.CopyOf != nil {
			id = agent.CopyOf(f.file)
		}
		if id == "" || len(view.Names("sessions/"+id+"/")) == 0 &&
			!slices.ContainsFunc(list, func(o found) bool {
				return o.agent != f.agent && strings.Contains(o.file, id)
			}) {
			kept = append(kept, f)
		}
	}
	if n := len(list) - len(kept); n > 0 {
		a.say("ctx: import: left out: %s of sessions that are here from the agent that had them",
			plural(n, "copy", "copies"))
	}
	return kept, nil
}

// importAll imports every transcript of the project that is on this machine, or of those of its
// directories that paths names. A directory elsewhere is the project, too.
func importAll(a *app, paths []string, dryRun bool) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	noted, err := notedPaths(s)
	if err != nil {
		return err
	}
	for i := range paths {
		paths[i] = filepath.Clean(a.path(paths[i]))
	}
	look, p := a.lookFor(s, noted, paths)
	q := a.asker()
	here := a.here
	if here == nil {
		here = a.sessionsHere(s, q)
	}
	here = here.within(a, s, q, slices.Compact(slices.Sorted(slices.Values(
		slices.Concat([]string{p.Dir}, p.Asked, p.Known, look.Trees())))))
	list, outside, left := a.pick(here, look, &p)
	a.sayUnreadable(look)
	inOrderOfTime(list)
	// Whoever may push to these branches speaks in them: nobody takes them in unasked.
	if _, _, ok := identity.Enclosing(p.Dir); ok {
		if refs, _ := catalog.EntireRefs(a.c, p.Dir); len(refs) > 0 {
			a.say("ctx: import: branches of this repository have sessions of a team; " +
				"`ctx import entire` takes them (Entire)")
		}
	}
	found := len(list)
	if list, err = a.withoutCopies(s, list); err != nil {
		return err
	}
	if list, err = a.withoutRemoved(s, list); err != nil {
		return err
	}
	if list, err = a.withoutMoved(s, list); err != nil {
		return err
	}
	if len(list) == 0 {
		if err := here.failed(); err != nil || found > 0 {
			return err
		}
		if slices.Contains(noted, p.Dir) && len(p.Asked) == 0 && !left && !here.closed {
			a.say("ctx: import: 0 transcripts found: what agents had of this project is here, " +
				"and they keep it no longer")
			return nil
		}
		none := notFound("a transcript of this project: %q", append(p.Asked, p.Dir)[0])
		if left {
			return withHint(none, "`ctx import FILE` takes a transcript that was left out")
		}
		return withHint(none, "looked in %s", here.looked)
	}
	paths = slices.Concat([]string{p.Dir}, outside, look.Trees())
	if !dryRun {
		if err := a.notePaths(s, noted, paths); err != nil {
			return err
		}
	}
	return cmp.Or(importFound(a, list, q, dryRun), here.failed())
}

// importFound imports transcripts of the project, or only lists them.
func importFound(a *app, list []found, q *catalog.Asker, dryRun bool) error {
	if dryRun {
		for _, f := range list {
			if err := a.result(fields("agent", f.agent, "file", f.file), "%s %s", f.agent,
				oneLine(f.file)); err != nil {
				return err
			}
		}
		return nil
	}
	agents, listed := map[string]string{}, map[string]*catalog.Listed{}
	var files []string
	for _, f := range list {
		agents[f.file], listed[f.file] = f.agent, f.listed
		files = append(files, f.file)
	}
	agent := func(file string) *catalog.Agent {
		name := agents[file]
		if l := listed[file]; l != nil && l.Kept != nil {
			name = cmp.Or(l.Kept.Form, name)
		}
		f, _ := catalog.Named(name)
		f.Name = name
		return &f
	}
	inOrderOfForks(files, agent, a.path)
	l := &linker{newest: true, ahead: readAhead{files: files, agent: agent, listed: listed,
		asker: q}}
	return importFiles(a, files, l.importNext(a), l)
}

// sayUnreadable says which sessions of the project are of agents that ctx cannot read yet.
func (a *app) sayUnreadable(look *identity.Look) {
	for _, s := range catalog.Strangers(a.agentEnv(), look) {
		what, them := plural(s.Sessions, "session", "sessions")+" of this project", "it"
		if s.Sessions > 1 {
			them = "them"
		}
		place := s.Place
		if rel, err := filepath.Rel(a.home, place); err == nil && filepath.IsLocal(rel) {
			place = "~" + string(filepath.Separator) + rel
		}
		a.say("ctx: import: %s has %s; ctx cannot read %s yet (%s)", place, what, them,
			s.Title)
	}
}
