package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

type sessionListOptions struct {
	cmd   *cobra.Command
	all   bool
	limit int
}

func newSessionListCmd(a *app) *cobra.Command {
	o := &sessionListOptions{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions",
		Long: long(`Lists the sessions, the one with the newest message first. The first line of
each has the beginning of its name, which every command accepts, and its title: the agent's own, or
else the first prompt. The second line says when its newest message was said, in which agent and on
which branch of git, and how many messages it has. A star marks the session that HEAD names.
`+"`ctx list`"+` is the same.

Sessions of subagents are counted with the session that they work for; --all lists them below it.
--json prints every session, with whole names.`, exitNoStore, exitCorrupt),
		Example: "  ctx session list -n 10\n  ctx session list --json",
		Args:    between(0, 0),
		RunE: a.onView(func(s *session.Store, view *refs.View, _ []string) error {
			if o.limit < 0 || o.cmd.Flags().Changed("limit") && o.limit == 0 {
				return usagef("bad --limit: %d: 1 is the least", o.limit)
			}
			list, err := s.Recall.Overviews(view)
			if err != nil {
				return err
			}
			o.print(a, list)
			return nil
		}),
	}
	o.cmd = cmd
	cmd.Flags().BoolVar(&o.all, "all", false, "list the sessions of subagents, too")
	cmd.Flags().IntVarP(&o.limit, "limit", "n", 0, "list only the newest `N` sessions")
	return cmd
}

func (o *sessionListOptions) print(a *app, list []recall.Overview) {
	if a.json {
		for i := range newest(list, o.limit) {
			a.document(document.OverviewOf(&list[i]))
		}
		return
	}
	t := newSessionTree(list)
	p := a.sessionPrinter(list, 2)
	for _, i := range newest(t.top, o.limit) {
		star := "  "
		if list[i].Head {
			star = "* "
		}
		p.print(star, "", &list[i], t.below(i))
		if o.all {
			t.each(i, "  ",
				func(child int, indent string) { p.print("  ", indent, &list[child], 0) })
		}
	}
}

// newest returns the first n of a list, or all for 0.
func newest[T any](list []T, n int) []T {
	if n > 0 && n < len(list) {
		return list[:n]
	}
	return list
}
