package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/session"
)

type searchOptions struct {
	session, branch, role, since string
	reader                       string
	limit                        int
	clusters, rewound            bool
}

func newSearchCmd(a *app) *cobra.Command {
	o := &searchOptions{}
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find what was said, best first",
		Long: long(`Shows the messages and notes that answer a query best, over all history of the store: what has been evicted is found like the rest, an
amended message by its newest words, and what was rewound only with --rewound. What was forgotten, or went with a removed session, is never found.
A query is words, names, paths and numbers; a name of somebody who spoke brings what they said. With --clusters the clusters that the best messages are in are
listed among them. Without a hit the exit code is 1.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx search 'which port does postgres listen on'\n  ctx search parser.go --json -n 3\n  ctx search 'delivery window' -s work --since 2026-03-01 --clusters",
		Args:    between(1, -1),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(a, strings.Join(args, " "))
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "only what was said in this session")
	f.StringVarP(&o.branch, "branch", "b", "", "with --session, only what this branch has")
	f.StringVar(&o.reader, "reader", "", "only what a reader in this `BRANCH`, or at this revision, of the session (default: the one that HEAD names) may see")
	f.StringVar(&o.role, "role", "", "only what was said by user, model, tool or system")
	f.StringVar(&o.since, "since", "", "only what was said at `TIME` or later: RFC 3339, or a date, in UTC")
	f.IntVarP(&o.limit, "limit", "n", 10, "at most `N` messages")
	f.BoolVar(&o.clusters, "clusters", false, "list the clusters of the best messages, too")
	f.BoolVar(&o.rewound, "rewound", false, "look at what was rewound, too")
	completeFlag(cmd, "session", a.completeSessions())
	completeFlag(cmd, "role", cobra.FixedCompletions(searchRoles, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

var searchRoles = []string{"user", "model", "tool", "system"}

func (o *searchOptions) run(a *app, text string) error {
	q, err := o.query(text)
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if o.reader != "" {
		name, err := sessionOr(view, o.session)
		if err != nil {
			return err
		}
		if q.Reader, err = s.NewReader(view, name, o.reader); err != nil {
			return err
		}
	}
	hits, err := s.Search(view, q)
	if err != nil {
		return err
	}
	for _, h := range hits {
		if err := a.printHit(h); err != nil {
			return err
		}
	}
	if len(hits) == 0 {
		return &exitError{exitFailed}
	}
	return nil
}

func (o *searchOptions) query(text string) (session.SearchQuery, error) {
	q := session.SearchQuery{
		Text: text, Session: o.session, Branch: o.branch, Role: o.role, Most: o.limit, Clusters: o.clusters, Rewound: o.rewound,
	}
	switch {
	case o.limit < 1:
		return q, usagef("bad --limit: %d: 1 is the least", o.limit)
	case o.role != "" && !slices.Contains(searchRoles, o.role):
		return q, usagef("bad --role: %.80q: one of %s", o.role, strings.Join(searchRoles, ", "))
	case o.branch != "" && o.session == "":
		return q, usagef("--branch goes with --session")
	}
	for _, n := range []struct{ what, name string }{{"session", o.session}, {"branch", o.branch}} {
		if n.name != "" {
			if err := checkName(n.what, n.name); err != nil {
				return q, err
			}
		}
	}
	if o.since == "" {
		return q, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, o.since); err == nil {
			q.Since = t
			return q, nil
		}
	}
	return q, usagef("bad --since: %.80q: 2026-03-01 or 2026-03-01T09:00:00Z", o.since)
}

func (a *app) printHit(h session.Hit) error {
	if a.json {
		return a.printJSON(document.HitOf(h))
	}
	if c := h.Cluster; c != nil {
		a.line("%.3f cluster %s %s, %d members", h.Score, h.ID.Short(shortLen), document.StateOf(c), c.Count)
	} else {
		note := ""
		if h.Rewound {
			note = " rewound"
		}
		a.line("%.3f %s %s%s", h.Score, oneLine(h.Session), heading(h.Shown), note)
	}
	a.line("    %s", firstWords(&h.Text))
	return a.out.err
}
