package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newEvictCmd(a *app) *cobra.Command {
	return a.newCmd("evict ID",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			id, err := resolve(s, view, args[0])
			if err != nil {
				return err
			}
			done, err := s.Summaries.Evict(a.c, id)
			if errors.Is(err, history.ErrBlocked) {
				return withHint(err, "`ctx compact` makes the summary")
			}
			if err != nil {
				return err
			}
			return a.result(fields(done), "%v", done.Tombstone)
		}))
}
