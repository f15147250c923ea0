package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/upkeep"
)

func newDestroyCmd(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "destroy [--force]",
		Short: "Remove the store and everything in it, for good",
		Long: long(`Removes the store with all that was ever said in it. On a terminal it asks first; elsewhere it needs --force. Nothing brings
a store back but a copy (`+"`ctx bundle`"+`).`, exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx destroy\n  ctx -C old-project destroy --force",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			if !force {
				if err := a.confirm("remove the store %q with everything in it", s.Dir); err != nil {
					return err
				}
			}
			if err := upkeep.Destroy(cmd.Context(), s); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					V    int    `json:"v"`
					Path string `json:"path"`
				}{1, s.Dir})
			}
			a.pathLine(s.Dir)
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "do not ask")
	return cmd
}
