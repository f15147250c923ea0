package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session"
)

type rewindOptions struct {
	branchFlags
	expect string
}

func newRewindCmd(a *app) *cobra.Command {
	o := &rewindOptions{}
	cmd := &cobra.Command{
		Use:   "rewind [-s SESSION] REV",
		Short: "Take an entry and everything after it out of a branch",
		Long: long(`Takes REV and everything after it out of the branch, prints the branch's new tip, and says on standard error how many messages left; with
--json they are "messages". A tool call is never left without the result it had: the branch then goes back to before the call. What left is out of the
clusters as well; its words stay in the store, and `+"`ctx undo`"+` brings it back.

@ is the newest message of the branch that -s and -b name, and @~N takes its N newest messages out, as `+"`git reset HEAD~N`"+` would; HEAD is the same where
it names that branch. Any other REV is the entry that it names.`, exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example:           "  ctx rewind -s work @~2\n  ctx rewind -s work 3f9a6c01",
		Args:              between(1, 1),
		ValidArgsFunction: a.completeRevs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args[0])
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail if the branch's tip is not this entry")
	return cmd
}

func (o *rewindOptions) run(c context.Context, a *app, rev string) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	name, branch, _, err := o.tip(view)
	if err != nil {
		return err
	}
	target, err := s.RewindTarget(view, name, branch, rev)
	if err != nil {
		return err
	}
	var options session.RewindOptions
	if o.expect != "" {
		if options.Expect, err = resolveEntry(s, view, inBranch(o.expect, name, branch)); err != nil {
			return err
		}
	}
	done, err := s.Rewind(c, name, branch, target, options)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			V         int    `json:"v"`
			ID        string `json:"id"`
			Left      string `json:"left"`
			Messages  int    `json:"messages"`
			Retracted int    `json:"retracted"`
		}{1, done.Entry.String(), done.Left.String(), done.Messages, done.Retracted})
	}
	a.line("%v", done.Entry)
	a.say("ctx: rewind: %s left the branch", plural(done.Messages, "message", "messages"))
	return nil
}
