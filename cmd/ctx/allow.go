package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newAllowCmd(a *app) *cobra.Command {
	var revoke, list bool
	cmd := a.newCmd("allow [--revoke | --list]", func([]string) error {
		if revoke && list {
			return usagef("--revoke and --list do not go together")
		}
		if list {
			return a.listAllowed()
		}
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		if revoke {
			err = s.Disallow()
		} else {
			err = s.Allow(repo.ByUser)
		}
		if err != nil {
			return err
		}
		return a.allowed(s, view, !revoke)
	})
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take the store off the list")
	cmd.Flags().BoolVar(&list, "list", false, "print the list")
	return cmd
}

// allowed prints what became of a store on the list.
func (a *app) allowed(s *session.Store, view *refs.View, on bool) error {
	if a.json {
		return a.answer("path", s.Dir, "id", s.ID, "allowed", on)
	}
	a.pathLine(s.Dir)
	list, err := s.Recall.Sessions(view)
	if err == nil && on {
		a.say("ctx: hooks record into it, and tell models of its %s",
			plural(len(list), "session", "sessions"))
	}
	return err
}

func (a *app) listAllowed() error {
	list, err := repo.AllowedStores(a.env())
	if err != nil {
		return err
	}
	l := a.listing("STORE", "HOW", "SINCE")
	for _, one := range list {
		l.add(fields("path", one.Path, "id", one.Store, "git", one.Git, "how", one.How, "time",
			one.Time), oneLine(one.Path), one.How, one.Time.Format(time.DateOnly))
	}
	return l.print()
}
