package main

import (
	"cmp"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/spf13/cobra"
)

func newReflogCmd(a *app) *cobra.Command {
	var limit int
	cmd := a.newCmd("reflog [REF]", func(args []string) error {
		if limit < 0 {
			return usagef("bad number of moves: %d", limit)
		}
		return reflog(a, append(args, "@")[0], limit)
	})
	cmd.ValidArgsFunction = a.completeRevs()
	cmd.Flags().IntVarP(&limit, "number", "n", 0, "show the newest `N` moves; 0 is all")
	return cmd
}

// move is one change of a ref.
type move struct {
	Ref       string    `json:"ref"`
	N         int       `json:"n"`
	ID        format.ID `json:"id"` // zero where it was taken away
	Session   string    `json:"session,omitempty"`
	Old       format.ID `json:"old"`
	Operation uint64    `json:"operation"`
	Verb      string    `json:"verb"`
	Time      string    `json:"time"`
}

func reflog(a *app, name string, limit int) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if name == "@" {
		if name, err = sessions.HEAD(view); err != nil {
			return err
		}
	}
	full := cmp.Or(refNamed(view, name), name)
	moves, err := movesOf(s, view, full, limit)
	if err != nil {
		return err
	}
	if len(moves) == 0 && !view.Get(full).Exists() {
		return notFound("no ref %q", name)
	}
	for _, m := range moves {
		if a.json {
			a.document(m)
			continue
		}
		what := m.Session
		if !m.ID.IsZero() {
			what = short(s, m.ID)
		} else if what == "" {
			what = "-"
		}
		a.line("%s %s@{%d} %s %s", what, m.Ref, m.N, m.Time, m.Verb)
	}
	return nil
}

func movesOf(s *session.Store, view *refs.View, name string, limit int) (moves []move, err error) {
	err = s.Refs.Backward(view, func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			if u.Name == name {
				moves = append(moves, move{Ref: name, N: len(moves), ID: u.New.ID,
					Session: u.New.Name, Old: u.Old.ID,
					Operation: r.Op.Number, Verb: r.Op.Verb, Time: document.TimeText(r.Op.Time)})
			}
		}
		return limit == 0 || len(moves) < limit
	})
	return moves, err
}
