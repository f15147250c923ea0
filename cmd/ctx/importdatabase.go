package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/exchange"
	"github.com/gemini-ctx/ctx/internal/session"
)

// listing is what the cache holds of an agent's database.
type listing struct {
	Path string
	Mark string // of the database that was listed
	List []catalog.Listed
}

// inDatabase lists the sessions that an agent keeps in its database. It says so if that cannot be
// read.
func (a *app) inDatabase(s *session.Store, agent *catalog.Agent, root string) []catalog.Listed {
	if agent.Database == nil {
		return nil
	}
	path := agent.Database.Path(root)
	if path == "" {
		return nil
	}
	list, err := a.listDatabase(s, agent, path)
	if err != nil {
		a.say("ctx: import: the sessions in %q cannot be read: %v", path, err)
	}
	return list
}

// listDatabase lists the sessions in a database. The agent's program takes a second or two, so it
// is asked only if the database has changed.
func (a *app) listDatabase(
	s *session.Store, agent *catalog.Agent, path string,
) ([]catalog.Listed, error) {
	name := cache.ImportName(path)
	if b, _, ok := s.History.Cache.Load(name); ok {
		var was listing
		if json.Unmarshal(b, &was) == nil && was.Path == path && was.Mark != "" &&
			was.Mark == catalog.Mark(path) {
			return was.List, nil
		}
	}
	list, err := agent.Database.List(a.c, path)
	if err != nil {
		return nil, err
	}
	// The program itself writes whenever it opens the database, so the mark is taken afterwards. What
	// somebody else wrote in that moment is seen after the next change.
	now := listing{Path: path, Mark: catalog.Mark(path), List: list}
	if b, err := json.Marshal(now); err == nil {
		_ = s.History.Cache.Store(name, cache.Stamp{}, b) // without it the database is listed again
	}
	return list, nil
}

// listedFile describes a session in a database as a transcript.
func (a *app) listedFile(f *catalog.Agent, file, named string, of *catalog.Listed) exchange.File {
	return exchange.File{Path: file, Agent: f.Name, As: named,
		Time: of.Updated * int64(time.Millisecond)}
}

// openListed opens a session in a database.
func (a *app) openListed(
	f *catalog.Agent, file string, of *catalog.Listed,
) (source *watched, closeIt func(), err error) {
	in, closeIt, err := f.Database.Export(a.c, *of)
	if err != nil {
		return nil, nil, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	return &watched{c: a.c, from: in}, closeIt, nil
}
