package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// This file says what a person wants to know first of what `ctx show` shows, before its header.

// sayEntry says of which session and turn an entry is, and of a prompt what came of it.
func (a *app) sayEntry(s *session.Store, v *refs.View, e *history.Shown) error {
	name := history.BranchName{Session: e.Entry.Session, Branch: history.MainBranch}
	tip := v.Get(history.RefName(name.Session, name.Branch))
	if a.nul || !tip.Exists() {
		return nil
	}
	rows := [][]string{{"session", oneLine(s.Recall.Titled(v, name.Session))}}
	turns, err := s.Recall.Turns(name, tip)
	at := slices.IndexFunc(turns, func(t sessions.Turn) bool { return isOfTurn(&t, e.ID) })
	switch {
	case err != nil:
		return err
	case at < 0:
	case turns[at].Entry != e.ID:
		rows = append(rows, []string{"turn", a.turnLine(&turns[at])})
	default:
		rows = append(append(rows, workOf(turns[at:at+1])...),
			[]string{"result", oneLine(turns[at].Came())})
	}
	a.table(rows)
	return nil
}

// isOfTurn reports whether an entry is the prompt of a turn, or said or did something in it.
func isOfTurn(t *sessions.Turn, id format.ID) bool {
	return t.Entry == id ||
		slices.ContainsFunc(t.Facts, func(f digest.Fact) bool { return f.Entry == id })
}

// sayCluster says what the cluster is about that an id names; nothing if it names none.
func (a *app) sayCluster(s *session.Store, v *refs.View, id format.ID) error {
	at, err := s.Clusters.LookupAt(v).AnyCluster(id)
	if err != nil || a.nul {
		return nil //nolint:nilerr // an object that is no cluster has only its header
	}
	if at.Live == nil {
		stone, line, err := s.Clusters.Tombstone(at.Tombstone)
		if err == nil {
			a.sayMembers("evicted", stone.Count, at.Tombstone)
			a.line("%s", oneLine(line))
		}
		return err
	}
	a.sayMembers("live", at.Live.Count(), at.Node)
	text, found, err := s.Recall.CoversText(at.Covers, shownTokens)
	if found {
		a.printf("\n%s\n", indented(text))
	}
	return err
}

func (a *app) sayMembers(state string, count uint64, id format.ID) {
	a.line("cluster  %s, %s: `ctx expand %s` prints them", state,
		plural(int(count), "message", "messages"), id.Short(shortLen))
}

// shownTokens is how many tokens of the summary of a cluster are shown.
const shownTokens = 300

// mostShown is how many files and commits are shown, the newest.
const mostShown = 8

// workOf returns what was changed in turns, as rows of a table.
func workOf(turns []sessions.Turn) (rows [][]string) {
	var files, commits []string
	for i := range turns {
		for _, edited := range turns[i].Edited {
			file, _, _ := strings.Cut(edited, " +")
			file, _, _ = strings.Cut(file, " -")
			files = slices.DeleteFunc(files, func(old string) bool { return old == file })
			files = append(files, file)
		}
		commits = append(commits, turns[i].Commits...)
	}
	for _, part := range []struct {
		name string
		list []string
	}{{"files", files}, {"commits", commits}} {
		if n := len(part.list); n > 0 {
			text := strings.Join(part.list[max(n-mostShown, 0):], ", ")
			if n > mostShown {
				text = fmt.Sprintf("%d, the newest: %s", n, text)
			}
			rows = append(rows, []string{part.name, oneLine(text)})
		}
	}
	return rows
}

// commitOf returns the entry that made a commit of git, of which hash is the beginning or more. ok
// is false if no session of the store is known to have made it.
func commitOf(s *session.Store, v *refs.View, hash string) (entry format.ID, ok bool) {
	if len(hash) < leastHash || strings.Trim(hash, "0123456789abcdef") != "" {
		return format.ID{}, false
	}
	list, _ := s.Recall.Overviews(v) // an error was told when the name was looked for
	for i := range list {
		main := sessions.MainOf(&list[i].Session)
		name := history.BranchName{Session: list[i].Name, Branch: main.Name}
		facts, _, _, _ := s.Recall.AllFacts(name, main.Value)
		for j := range facts {
			_, made := facts[j].Committed()
			if facts[j].Kind == digest.Commit && made != "" &&
				(strings.HasPrefix(made, hash) || strings.HasPrefix(hash, made)) {
				return facts[j].Entry, true
			}
		}
	}
	return format.ID{}, false
}

// leastHash is how many digits of a commit git prints at least.
const leastHash = 7
