package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

type compactOptions struct {
	branchFlags
	all      bool
	strategy string
}

func newCompactCmd(a *app) *cobra.Command {
	o := &compactOptions{}
	cmd := &cobra.Command{
		Use:   "compact [-s SESSION | --all]",
		Short: "Summarise clusters and shorten what a session renders",
		Long: long(`Moves what left the window into clusters, summarises every cluster that wants it, makes one-line tombstones of the clusters that were
quiet longest (above forest.max_cold_clusters), and has the session render the result: summaries of what is old, and the newest messages word
for word. Nothing is removed: `+"`ctx expand`"+` gives back the words behind every summary and tombstone.

Reported are the summaries that cover their cluster (settled), those whose cluster has grown meanwhile (carried), those that came too late
(lost) or were there already (known), the clusters that became tombstones (evicted), and those that still want a summary (dirty).`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: "  ctx compact -s work\n  ctx compact --all --json",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), a)
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.Flags().BoolVar(&o.all, "all", false, "every branch of every session")
	cmd.Flags().StringVar(&o.strategy, "strategy", "union-find", "how messages are put together: union-find")
	return cmd
}

func (o *compactOptions) run(c context.Context, a *app) error {
	switch {
	case o.strategy == "flat":
		return withHint(usagef("strategy flat is not available yet"), "union-find is")
	case o.strategy != "union-find":
		return usagef("unknown --strategy: %.40q", o.strategy)
	case o.all && (o.cmd.Flags().Changed("session") || o.cmd.Flags().Changed("branch")):
		return usagef("--all means every session: -s and -b cannot be given with it")
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	branches, err := o.branches(s, view)
	if err != nil {
		return err
	}
	done, err := s.Compact(c, branches)
	if err != nil {
		return err
	}
	defer a.tidy(c, s)
	if a.json {
		return a.printJSON(struct {
			V       int     `json:"v"`
			Settled int     `json:"settled"`
			Carried int     `json:"carried"`
			Lost    int     `json:"lost"`
			Known   int     `json:"known"`
			Evicted int     `json:"evicted"`
			Dirty   int     `json:"dirty"`
			Roots   int     `json:"roots"`
			Forest  *string `json:"forest"`
		}{1, done.Settled, done.Carried, done.Lost, done.Known, done.Evicted, done.Dirty, done.Roots, idText(done.Forest)})
	}
	a.line("settled %d, carried %d, lost %d, known %d, evicted %d, dirty %d, %s",
		done.Settled, done.Carried, done.Lost, done.Known, done.Evicted, done.Dirty, plural(done.Roots, "cluster", "clusters"))
	return nil
}

func (o *compactOptions) branches(s *session.Store, view *refs.View) ([]session.BranchName, error) {
	if !o.all {
		name, branch, _, err := o.tip(view)
		return []session.BranchName{{Session: name, Branch: branch}}, err
	}
	list, err := s.Sessions(view)
	if err != nil {
		return nil, err
	}
	var all []session.BranchName
	for _, one := range list {
		for _, b := range one.Branches {
			all = append(all, session.BranchName{Session: one.Name, Branch: b.Name})
		}
	}
	return all, nil
}
