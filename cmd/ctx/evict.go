package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newEvictCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "evict ID",
		Short: "Turn a cluster into a tombstone",
		Long: long(`Turns a cluster into a tombstone of one line, and prints the id of the
tombstone. ID names the cluster or one of its summaries. `+"`ctx compact`"+` does the same with the
clusters that were quiet longest. Sessions stop rendering the cluster when their windows next move.
Nothing else changes: `+"`ctx expand`"+` still prints the messages, and a new message on the topic
brings the cluster back. If a cluster has messages that no summary covers, the command refuses
(16).`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound, exitBlocked),
		Example: "  ctx evict 60319200b04e\n  ctx evict --json 60319200b04e",
		Args:    between(1, 1),
		RunE: a.onView(func(s *session.Store, view *refs.View, args []string) error {
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
		}),
	}
}
