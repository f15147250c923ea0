package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session"
)

func newEvictCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "evict ID",
		Short: "Make a tombstone of a cluster",
		Long: long(`Makes a one-line tombstone of a cluster, named by its id or by that of a summary, and prints the tombstone's id. `+"`ctx compact`"+` does this
with the clusters that were quiet longest. That takes the cluster out of what sessions render when they next leave, and nothing else: it can be
expanded, and a new message on its topic brings it back. A cluster with messages that no summary stands for is refused (16).`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound, exitBlocked),
		Example: "  ctx evict 60319200b04e\n  ctx evict --json 60319200b04e",
		Args:    between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			id, err := resolve(s, view, args[0])
			if err != nil {
				return err
			}
			done, err := s.Evict(cmd.Context(), id)
			if errors.Is(err, session.ErrBlocked) {
				return withHint(err, "`ctx compact` makes one")
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					V         int    `json:"v"`
					Cluster   string `json:"cluster"`
					Tombstone string `json:"tombstone"`
					Known     bool   `json:"known"`
				}{1, done.Cluster.String(), done.Tombstone.String(), done.Known})
			}
			a.line("%v", done.Tombstone)
			return nil
		},
	}
}
