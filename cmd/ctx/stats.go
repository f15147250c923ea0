package main

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/usage"
)

type statsOptions struct {
	cmd         *cobra.Command
	session     string
	times       timeFlags
	files, cost bool
	everywhere  bool
	limit       int
}

func newStatsCmd(a *app) *cobra.Command {
	o := &statsOptions{}
	cmd := a.newCmd("stats [SESSION]", func([]string) error { return o.run(a) })
	cmd.Args = between(0, 0)
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "count only this session")
	o.times.flags(f)
	f.BoolVar(&o.files, "files", false, "count changes of files, too")
	f.BoolVar(&o.cost, "cost", false, "count tokens of calls, and what they cost")
	everywhereFlag(cmd, &o.everywhere, "count")
	f.IntVarP(&o.limit, "limit", "n", 10, "print at most `N` weeks, agents and files")
	a.completeFlag(cmd, "session", a.completeSessions())
	(&branchFlags{}).takeSession(a, cmd)
	return cmd
}

func (o *statsOptions) run(a *app) error {
	if o.everywhere && o.session != "" {
		return usagef("--everywhere goes without --session")
	}
	within, err := o.times.span(a.local(a.now()))
	if err != nil {
		return err
	}
	places, err := a.places(o.everywhere)
	if err != nil {
		return err
	}
	want := usage.Options{Within: within, Files: o.files, Cost: o.cost}
	var stores []usage.Store
	for i, at := range places {
		if i == 0 { // the user's prices are those of every store, but for one with its own
			want.Prices = at.s.Config.Stats.Prices
		}
		project := repo.ProjectOf(at.s.Dir)
		if o.everywhere { // files of projects are told from each other
			project = filepath.Dir(project)
		}
		stores = append(stores, usage.Store{Reader: at.s.Recall, View: at.view, Project: project})
	}
	if o.session != "" {
		want.Session, err = places[0].s.Recall.Named(places[0].view, o.session)
		if err != nil {
			return err
		}
	}
	r, err := usage.Count(a.c, want, stores...)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(r, "first", document.TimeOrNull(r.First), "last",
			document.TimeOrNull(r.Last))
	}
	o.print(a, r)
	return nil
}

func (o *statsOptions) print(a *app, r *usage.Report) {
	sessions := grouped(int64(r.Sessions))
	if r.Subagents > 0 {
		sessions += fmt.Sprintf(", %s of them of subagents", grouped(int64(r.Subagents)))
	}
	messages := grouped(int64(r.Messages))
	sep := ": "
	for _, role := range searchRoles {
		if n := r.Roles[role]; n > 0 {
			messages += sep + grouped(int64(n)) + " " + role
			sep = ", "
		}
	}
	list := [][]string{{"sessions", sessions}, {"messages", messages},
		{"tokens", grouped(r.Tokens) + ", as estimated"}}
	if c := r.Compacted; c.Messages > 0 {
		list = append(list, []string{"clustered", fmt.Sprintf("%s messages of %s tokens, rendered as %s",
			grouped(int64(c.Messages)), grouped(c.Tokens), grouped(c.Summaries))})
	}
	if !r.First.IsZero() {
		list = append(list, []string{"said", a.clock(r.First) + " to " + a.clock(r.Last)})
	}
	a.table(list)
	o.printRows(a, "week", r.Weeks[max(0, len(r.Weeks)-o.limit):])
	o.printRows(a, "agent", r.Agents[:min(len(r.Agents), o.limit)])
	o.printSpent(a, r.Spent)
	if most := max(len(r.Weeks), len(r.Agents), len(r.Files)); most > o.limit {
		a.say("a table has the %d newest or largest rows: -n %d prints all", o.limit, most)
	}
	if len(r.Files) == 0 {
		return
	}
	rows := lists.Map(r.Files[:min(len(r.Files), o.limit)], func(f usage.File) []string {
		return []string{oneLine(f.Path), strconv.Itoa(f.Changes), strconv.Itoa(f.Sessions)}
	})
	a.line("")
	a.titled([]string{"file", "changes", "sessions"}, rows)
}

// printRows prints the rows of weeks, or of agents, as a table.
func (o *statsOptions) printRows(a *app, what string, list []usage.Row) {
	if len(list) == 0 {
		return
	}
	rows := [][]string{}
	for _, r := range list {
		name := oneLine(r.Name)
		if what == "agent" && name == "" {
			name = "none"
		} else if what == "agent" {
			name = agentNamed(r.Name)
		}
		rows = append(rows,
			[]string{name, grouped(int64(r.Sessions)), grouped(int64(r.Messages)),
				grouped(r.Tokens)})
	}
	a.line("")
	a.titled([]string{what, "sessions", "messages", "tokens"}, rows)
}

// printSpent prints what each model took, and the sum of what has a price.
func (o *statsOptions) printSpent(a *app, list []usage.Spent) {
	if !o.cost {
		return
	}
	a.line("")
	if len(list) == 0 {
		a.line("no call of a model is reported")
		return
	}
	rows, sum, priced, without := [][]string{}, 0.0, 0, []string{}
	for _, m := range list {
		name, dollars := cmp.Or(oneLine(m.Model), "(no name)"), "-"
		if m.Dollars != nil {
			dollars = fmt.Sprintf("%.2f", *m.Dollars)
			sum, priced = sum+*m.Dollars, priced+1
		} else {
			without = append(without, name)
		}
		rows = append(rows, []string{name, grouped(int64(m.Calls)), big(m.Input),
			big(m.CacheRead), big(m.CacheWrite), big(m.Output), dollars})
	}
	a.titled([]string{"model", "calls", "input", "cache read", "cache write", "output", "$"}, rows)
	if priced > 0 {
		a.line("%.2f dollars at the list prices of %s", sum, usage.PricesOf)
	}
	if len(without) > 0 {
		a.line("without a price, or with its output only: %s", strings.Join(without, ", "))
	}
}

func big(n uint64) string { return grouped(int64(min(n, math.MaxInt64))) }

// grouped writes a number with a comma before each three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
