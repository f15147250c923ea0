package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
)

type sessionListOptions struct {
	cmd             *cobra.Command
	all, everywhere bool
	limit           int
	times           timeFlags
	agent           string
}

// newSessionListCmd makes `ctx session list`, which is `ctx list` under another name.
func newSessionListCmd(a *app) *cobra.Command {
	cmd := newListCmd(a)
	cmd.Hidden = true
	return cmd
}

func newListCmd(a *app) *cobra.Command {
	o := &sessionListOptions{}
	cmd := a.newCmd("list [WORDS...]", func(words []string) error {
		if !slices.ContainsFunc(catalog.All(), o.isOf) {
			return withHint(usagef("unknown agent %.80q", o.agent),
				"`ctx import --help` lists the agents")
		}
		within, err := o.times.span(a.local(a.now()))
		if err != nil {
			return err
		}
		places, err := a.places(o.everywhere)
		if err != nil {
			return err
		}
		lists, err := ofAll(a, places, func(p *place) ([]listed, error) {
			list, err := p.s.Recall.Overviews(p.view)
			list = slices.DeleteFunc(list, func(one sessions.Overview) bool {
				return o.times.given() && !within.Has(one.Last) ||
					!o.isOf(catalog.Agent{Name: agentNamed(one.Agent)})
			})
			return listOf(chosen(list, words)), err
		}, func(x, y listed) int {
			return cmp.Or(sessions.ByPin(*y.one(), *x.one()),
				x.one().Last.Compare(y.one().Last))
		})
		if err == nil {
			lists = listedOnce(lists)
			switch asks := len(words) > 0 || o.times.given() || o.agent != ""; {
			case len(lists) > 0 || a.json:
			case a.isTime(strings.Join(words, " ")):
				a.say("no session fits: `ctx list --since %q` lists those of a time",
					strings.Join(words, " "))
			case asks:
				a.say("no session fits: `ctx list` without words and flags lists all")
			case o.everywhere:
				a.say("no session yet: `ctx import --everywhere` brings what agents have of all projects")
			default:
				a.say("no session yet: `ctx import --all` brings what agents have of this project")
			}
			o.print(a, lists)
		}
		return err
	})
	o.cmd = cmd
	cmd.Flags().BoolVar(&o.all, "all", false, "list the sessions of subagents, too")
	everywhereFlag(cmd, &o.everywhere, "list the sessions")
	cmd.Flags().IntVarP(&o.limit, "limit", "n", 0, "list only the newest `N` sessions")
	o.times.flags(cmd.Flags())
	cmd.Flags().StringVar(&o.agent, "agent", "", "list only sessions of the agent `NAME`")
	a.completeWords(cmd, "agent", catalog.Resumable()...)
	return cmd
}

// isOf reports whether an agent is the one that was asked for, by the beginning of its name.
func (o *sessionListOptions) isOf(agent catalog.Agent) bool {
	return strings.HasPrefix(agent.Name, strings.ToLower(o.agent))
}

// chosen returns the sessions of a list that have some words, the pinned ones first.
func chosen(list []sessions.Overview, words []string) []sessions.Overview {
	if len(words) > 0 {
		list = slices.DeleteFunc(list,
			func(o sessions.Overview) bool { return !o.HasWords(words, false) })
	}
	slices.SortStableFunc(list, sessions.ByPin)
	return list
}

// listed is a session of a list.
type listed struct {
	list []sessions.Overview
	tree *sessionTree
	i    int
}

func (l *listed) one() *sessions.Overview { return &l.list[l.i] }

// listOf returns the sessions of a store.
func listOf(list []sessions.Overview) (all []listed) {
	tree := newSessionTree(list)
	for i := range list {
		all = append(all, listed{list, tree, i})
	}
	return all
}

// listedOnce leaves out the sessions that another store has as its own, to the same entry.
func listedOnce(all []of[listed]) []of[listed] {
	origin := map[format.ID]*place{}
	for _, one := range all {
		_, shared := history.Owner(one.place.view, one.T.one().Name)
		if tip := one.T.tip(); !shared && origin[tip] == nil {
			origin[tip] = one.place
		}
	}
	return slices.DeleteFunc(all, func(one of[listed]) bool {
		tip := one.T.tip()
		return !tip.IsZero() && origin[tip] != nil && origin[tip] != one.place
	})
}

// tip returns where the first branch of the session is; zero if it has none.
func (l *listed) tip() (id format.ID) {
	if branches := l.one().Branches; len(branches) > 0 {
		id = branches[0].Value.ID
	}
	return id
}

func (o *sessionListOptions) print(a *app, all []of[listed]) {
	if a.json {
		for _, one := range newest(all, o.limit) {
			a.enter(one.place)
			a.document(document.OverviewOf(one.T.one()))
		}
		return
	}
	all = slices.DeleteFunc(all, func(one of[listed]) bool { return !one.T.tree.isTop(one.T.i) })
	printers, width := map[*place]*sessionPrinter{}, 0
	for _, one := range all {
		if printers[one.place] == nil {
			printers[one.place] = a.sessionPrinter(one.T.list, 2)
			width = max(width, printers[one.place].name)
		}
	}
	for _, one := range newest(all, o.limit) {
		p, t := printers[one.place], one.T.tree
		p.name, p.project = width, one.place.name
		star := "  "
		if one.T.one().Head {
			star = "* "
		}
		p.print(star, "", one.T.one(), t.below(one.T.i))
		if o.all {
			t.each(one.T.i, "  ", func(child int, indent string) {
				p.print("  ", indent, &one.T.list[child], 0)
			})
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
