package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
)

func newDestroyCmd(a *app) *cobra.Command {
	var force bool
	cmd := a.newCmd("destroy [--force]", a.onStore(func(s *session.Store, _ []string) error {
		if !force {
			if err := a.confirm("remove the store %q with everything in it",
				s.Dir); err != nil {
				return err
			}
		}
		if err := store.Destroy(a.c, s.Opened); err != nil {
			return err
		}
		return a.pathResult(fields("path", s.Dir), s.Dir)
	}))
	cmd.Flags().BoolVar(&force, "force", false, "do not ask")
	return cmd
}
