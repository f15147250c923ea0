package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// graph prints the history of all branches of a session, newest entry first, with lines from each
// entry to those that it stands on.
func (o *logOptions) graph(a *app, s *session.Store, view *refs.View) error {
	name, err := sessionOr(s, view, o.session)
	if err != nil {
		return err
	}
	list, err := s.Conversation.Branches(view, name)
	if err != nil {
		return err
	}
	tips := map[format.ID][]string{}
	var ids []format.ID
	for _, b := range list {
		if len(tips[b.Value.ID]) == 0 {
			ids = append(ids, b.Value.ID)
		}
		tips[b.Value.ID] = append(tips[b.Value.ID], b.Name)
	}
	order, versions, err := newestFirst(s.History, ids)
	if err != nil {
		return err
	}
	l, t := &lanes{}, o.telling(s)
	printed := 0
	for _, e := range order {
		free := len(tips[e.ID]) == 0 && !o.all // to be left out
		if free && !isDrawn(e.Entry) {
			l.pass(e.ID, e.Parents)
			continue
		}
		if o.limit > 0 && printed == o.limit {
			break
		}
		shown, err := s.History.Version(e.ID, versions[e.ID])
		if err != nil {
			return err
		}
		if free && len(e.Parents) < 2 && shown.IsBare() {
			l.pass(e.ID, e.Parents)
			continue
		}
		printed++
		before, mark, after := l.add(e.ID, e.Parents)
		for _, row := range before {
			a.line("%s", row)
		}
		a.line("%s %s", mark, a.oneline(t, shown, tips[e.ID], displaywidth.String(mark)+1))
		for _, row := range after {
			a.line("%s", row)
		}
		if err := errors.Join(a.c.Err(), a.out.err); err != nil {
			return err
		}
	}
	return nil
}

// isDrawn reports whether an entry is one of a graph: what was said, and where branches part and
// meet.
func isDrawn(e *format.Entry) bool {
	switch e.Kind {
	case format.KindMessage, format.KindNote, format.KindFork, format.KindJoin, format.KindRewind:
		return true
	}
	return len(e.Parents) > 1
}

// newestFirst returns the entries that tips stand on, each before its parents, and of two that do
// not stand on each other first the one that was said later. versions has the newest version of
// each amended entry.
func newestFirst(
	s *history.Reader, tips []format.ID,
) (order []history.Entry, versions map[format.ID]format.ID, err error) {
	entries := map[format.ID]history.Entry{}
	versions = map[format.ID]format.ID{}
	above := map[format.ID]int{} // entries that stand on one directly, and are not in order yet
	for _, tip := range tips {
		for e, err := range s.Walk(tip, history.AllParents) {
			if err != nil {
				return nil, nil, err
			}
			if _, seen := entries[e.ID]; seen {
				continue
			}
			entries[e.ID] = e
			for _, p := range e.Parents {
				above[p]++
			}
		}
	}
	var ready []history.Entry // sorted: the one that comes next is the last
	insert := func(e history.Entry) {
		at, _ := slices.BinarySearchFunc(ready, e, func(x, y history.Entry) int {
			if c := x.Time.Compare(y.Time); c != 0 {
				return c
			}
			return strings.Compare(string(x.ID[:]), string(y.ID[:]))
		})
		ready = slices.Insert(ready, at, e)
	}
	for id, e := range entries {
		if above[id] == 0 {
			insert(e)
		}
	}
	for len(ready) > 0 {
		e := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		order = append(order, e)
		if _, newer := versions[e.Amends]; e.Kind == format.KindAmend && !newer {
			versions[e.Amends] = e.ID
		}
		for _, p := range e.Parents {
			if above[p]--; above[p] == 0 {
				insert(entries[p])
			}
		}
	}
	return order, versions, nil
}

// longestLine is the most columns of a line for an entry that does not go to a terminal.
const longestLine = 240

// oneline returns an entry in one line: its id, the branches that end there, who said it, and the
// beginning of what was said. It is cut to the width of the terminal that is left of the columns.
func (a *app) oneline(
	t *find.Telling, shown *history.Shown, branches []string, columns int,
) string {
	e := shown.Entry
	said := []string{a.paint(styleID, shown.ID.Short(shortLen))}
	if len(branches) > 0 {
		said = append(said, a.paint(styleNew, "("+oneLine(strings.Join(branches, ", "))+")"))
	}
	if e.Kind != format.KindMessage {
		said = append(said, a.paint(styleRole, e.Kind))
	}
	if e.Role != "" {
		said = append(said, a.paint(styleRole, e.Role))
	}
	line := strings.Join(said, " ")
	words := ""
	switch e.Kind {
	case format.KindFork, format.KindJoin:
		words = oneLine(strings.Join(e.Children, ", "))
	case format.KindRewind:
		words = "left " + e.Left.Short(shortLen)
	default:
		words = strings.Join(strings.Fields(oneLine(firstLine(entryBody(t, shown)))), " ")
	}
	room := longestLine // in a file or a pipe, where nobody knows how wide it will be shown
	if asked(a.outTerm) {
		room = a.lineWidth()
	}
	words = cutWidth(words, room-columns-displaywidth.String(unpainted(line))-1)
	return strings.TrimRight(line+" "+words, " ")
}

// firstLine returns the first line of a text that has a visible character.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
