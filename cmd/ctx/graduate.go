package main

import "github.com/spf13/cobra"

func newGraduateCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	cmd := &cobra.Command{
		Use:   "graduate [-s SESSION]",
		Short: "Move messages that left the window into clusters",
		Long: long(`Moves every message of the branch that is older than the window (window.graduate_at) into a cluster of the forest: the one it is
most alike, or a new one. Appending does this a few messages at a time; after a large import there is more to do. What is rendered
does not change until the branch's tail is cut, by an append that grows it past window.evict_at or by `+"`ctx compact`"+`.`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: "  ctx graduate -s work --json",
		Args:    between(0, 0),
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		name, branch, _, err := o.tip(view)
		if err != nil {
			return err
		}
		done, err := s.Graduate(cmd.Context(), name, branch)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(struct {
				V         int     `json:"v"`
				Graduated int     `json:"graduated"`
				Merged    int     `json:"merged"`
				Roots     int     `json:"roots"`
				Forest    *string `json:"forest"`
			}{1, done.Graduated, done.Merged, done.Roots, idText(done.Forest)})
		}
		a.line("graduated %d, merged %d, %s", done.Graduated, done.Merged, plural(done.Roots, "cluster", "clusters"))
		return nil
	}
	return cmd
}
