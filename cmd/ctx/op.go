package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newOpLogCmd(a *app) *cobra.Command {
	var limit int
	var inSession string
	cmd := a.newCmd("log", func([]string) error {
		if limit < 0 {
			return usagef("bad number of operations: %d", limit)
		}
		return opLog(a, inSession, limit)
	})
	cmd.Flags().IntVarP(&limit, "number", "n", 0, "list the newest `N` operations; 0 is all")
	cmd.Flags().StringVarP(&inSession, "session", "s", "", "only those of `SESSION`")
	a.completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

func opLog(a *app, inSession string, limit int) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if inSession != "" {
		if inSession, err = s.Recall.NamedOr(view, inSession); err != nil {
			return err
		}
	}
	l, n := a.listing(), 0
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		if inSession != "" && !isAbout(r.Op, inSession) {
			return true
		}
		l.add(fields(opDocOf(r, nil)), a.opRow(r)...)
		n++
		return limit == 0 || n < limit
	})
	if err != nil {
		return err
	}
	if n == 0 && inSession != "" {
		return history.UnknownSession(inSession, history.MainBranch)
	}
	if asked(a.outTerm) {
		if err := shortSessions(s, view, l.rows); err != nil {
			return err
		}
		if len(l.rows) > 0 {
			a.cutLast(make([]string, len(l.rows[0])), l.rows)
		}
	}
	return l.print()
}

// shortSessions writes the names of sessions in rows as a person knows them.
func shortSessions(s *session.Store, view *refs.View, rows [][]string) error {
	list, err := s.Recall.Overviews(view)
	if err != nil {
		return err
	}
	var names []string
	for name, short := range shortNames(list) {
		names = append(names, name, short)
	}
	known := strings.NewReplacer(names...)
	for _, row := range rows {
		for i := range row {
			row[i] = known.Replace(row[i])
		}
	}
	return nil
}

// isAbout reports whether an operation is about a session. One that names none may be about
// several.
func isAbout(op *format.Operation, session string) bool {
	if op.Session != "" {
		return op.Session == session
	}
	return slices.ContainsFunc(op.Refs, func(u format.RefUpdate) bool {
		of, _, ok := history.BranchOfRef(u.Name)
		return ok && of == session
	})
}

func (a *app) opRow(r refs.Record) []string {
	about := r.Op.Session
	if r.Op.About != 0 {
		about += " (" + strconv.FormatUint(r.Op.About, 10) + ")"
	}
	return []string{strconv.FormatUint(r.Op.Number, 10), a.clock(r.Op.Time), r.Op.Verb, about,
		strings.Join(r.Op.RefNames(), " ")}
}
