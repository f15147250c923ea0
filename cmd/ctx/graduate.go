package main

import (
	"github.com/spf13/cobra"
)

func newGraduateCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	cmd := &cobra.Command{
		Use:   "graduate [-s SESSION]",
		Short: "Move messages that left the window into clusters",
		Long: long(`Moves each message of the branch that is older than the window
(window.graduate_at) into a cluster: the most similar one, or a new one. The command prints how many
messages it moved. Each append moves a few messages; after a large import there are more. What the
session renders does not change until the window moves: at an append that grows the branch past
window.evict_at, or at `+"`ctx compact`"+`.`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: "  ctx graduate -s work --json",
		Args:    between(0, 0),
	}
	o.add(a, cmd)
	cmd.RunE = o.onTip(a, func(b openBranch, _ []string) error {
		done, err := b.s.Conversation.Graduate(a.c, b.name, b.branch)
		if err != nil {
			return err
		}
		return a.result(fields(done), "graduated %d, merged %d, %s",
			done.Graduated, done.Merged, plural(done.Roots, "cluster", "clusters"))
	})
	return cmd
}
