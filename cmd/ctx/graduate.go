package main

import (
	"github.com/spf13/cobra"
)

func newGraduateCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	return o.newCmd(a, "graduate [-s SESSION]", o.onTip(a, func(b openBranch, _ []string) error {
		done, err := b.s.Conversation.Graduate(a.c, b.name, b.branch)
		if err != nil {
			return err
		}
		return a.result(fields(done), "graduated %d, merged %d, %s",
			done.Graduated, done.Merged, plural(done.Roots, "cluster", "clusters"))
	}))
}
