package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

func newReflogCmd(a *app) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "reflog [REF]",
		Short: "Show where a ref has been",
		Long: long(`Shows what a ref has named, newest first, as far as the log goes back (log.keep): "<id> <ref>@{n} <time> <verb>". Without
REF it is the session that HEAD names. A ref that was taken away can still be asked for by its full name.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example:           "  ctx reflog work\n  ctx reflog -n 5 user/before-demo",
		Args:              between(0, 1),
		ValidArgsFunction: a.completeRevs(),
		RunE: func(_ *cobra.Command, args []string) error {
			if limit < 0 {
				return usagef("bad number of moves: %d", limit)
			}
			return reflog(a, append(args, "@")[0], limit)
		},
	}
	cmd.Flags().IntVarP(&limit, "number", "n", 0, "show the newest `N` moves; 0 for all")
	return cmd
}

// move is one step of a ref.
type move struct {
	V         int     `json:"v"`
	Ref       string  `json:"ref"`
	N         int     `json:"n"`
	ID        *string `json:"id"` // null where it was taken away
	Session   string  `json:"session,omitempty"`
	Old       *string `json:"old"`
	Operation uint64  `json:"operation"`
	Verb      string  `json:"verb"`
	Time      string  `json:"time"`

	id format.ID
}

func reflog(a *app, name string, limit int) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if name == "@" {
		if name, err = session.HEAD(view); err != nil {
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
			if err := a.printJSON(m); err != nil {
				return err
			}
			continue
		}
		what := m.Session
		if m.ID != nil {
			what = short(s, m.id)
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
				moves = append(moves, move{V: 1, Ref: name, N: len(moves), ID: idText(u.New.ID), Session: u.New.Name, Old: idText(u.Old.ID),
					Operation: r.Op.Number, Verb: r.Op.Verb, Time: timeText(r.Op.Time), id: u.New.ID})
			}
		}
		return limit == 0 || len(moves) < limit
	})
	return moves, err
}
