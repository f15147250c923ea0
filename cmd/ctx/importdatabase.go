package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
)

// listing is what the cache holds of an agent's database.
type listing struct {
	Path string
	Mark string // of the database that was listed
	List []catalog.Listed
}

// agentPatience is how long a program of an agent may take for one answer: opencode takes two
// seconds for a session.
const agentPatience = 20 * time.Second

func (a *app) asker() *catalog.Asker {
	return &catalog.Asker{Limit: cmp.Or(a.patience, agentPatience), Beside: environ.Beside()}
}

// inDatabase lists the sessions that an agent keeps in its database. It says so if that cannot be
// read. ok is false then, unless the agent's program is not installed.
func (a *app) inDatabase(
	s *session.Store, q *catalog.Asker, agent *catalog.Agent, root string,
) (list []catalog.Listed, ok bool) {
	if agent.Database == nil {
		return nil, true
	}
	path := agent.Database.Path(root)
	if path == "" {
		return nil, true
	}
	list, err := a.listDatabase(s, q, agent, path)
	if err != nil {
		a.warn(fmt.Sprintf("import: the sessions in %q cannot be read: %v", path, err))
	}
	return list, err == nil || errors.Is(err, catalog.ErrNoProgram)
}

// listDatabase lists the sessions in a database. The agent's program takes a second or two, so it
// is asked only if the database has changed since the store, which may be nil, was told.
func (a *app) listDatabase(
	s *session.Store, q *catalog.Asker, agent *catalog.Agent, path string,
) ([]catalog.Listed, error) {
	name := cache.ImportName(path)
	if s == nil {
		return q.List(a.c, agent, path)
	}
	var was listing
	if s.History.Cache.GetJSON(name, &was) && was.Path == path && was.Mark != "" &&
		was.Mark == catalog.Mark(path) {
		return was.List, nil
	}
	list, err := q.List(a.c, agent, path)
	if err != nil {
		return nil, err
	}
	// The program itself writes whenever it opens the database, so the mark is taken afterwards. What
	// somebody else wrote in that moment is seen after the next change.
	now := listing{Path: path, Mark: catalog.Mark(path), List: list}
	// Without it the database is listed again
	_ = s.History.Cache.PutJSON(name, cache.Stamp{}, now)
	return list, nil
}

// listedFile describes a session in a database as a transcript.
func (a *app) listedFile(f *catalog.Agent, file, named string, of *catalog.Listed) importer.File {
	return importer.File{Path: file, Agent: f.Name, As: named,
		Time: of.Updated * int64(time.Millisecond)}
}

// openListed opens a session in a database.
func (a *app) openListed(
	q *catalog.Asker, f *catalog.Agent, file string, of *catalog.Listed,
) (source *watched, closeIt func(), err error) {
	if of.Kept != nil {
		return a.openCheckpoint(file, of.Kept)
	}
	in, closeIt, err := q.Export(a.c, f, filepath.Dir(a.path(file)), *of)
	if err != nil {
		return nil, nil, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	return &watched{c: a.c, from: in}, closeIt, nil
}

// withoutDatabases puts the sessions of each database among files in its place. of is the agent of
// all files; nil for that of each. A database that cannot be listed stays: it is no transcript.
func (a *app) withoutDatabases(
	q *catalog.Asker, files []string, of *catalog.Agent,
) (list []string, listed map[string]*catalog.Listed, agents map[string]*catalog.Agent, err error) {
	listed, agents = map[string]*catalog.Listed{}, map[string]*catalog.Agent{}
	for _, file := range files {
		agent := catalog.OfDatabase(a.path(file))
		if agent == nil || of != nil && agent.Name != of.Name {
			list = append(list, file)
			continue
		}
		sessions, err := q.List(a.c, agent, a.path(file))
		if err != nil {
			return nil, nil, nil, fmt.Errorf("the sessions in %q cannot be read: %w", file, err)
		}
		for _, one := range sessions {
			name := one.File(file)
			list, listed[name], agents[name] = append(list, name), &one, agent
		}
	}
	return list, listed, agents, nil
}
