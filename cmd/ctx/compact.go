package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/compaction"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/usage"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

type compactOptions struct {
	branchFlags
	all      bool
	strategy string
	begin    bool
	commit   string
	limit    int
	redo     string
	revert   string
	focus    string
	helpers  bool // a model may be asked
}

func newCompactCmd(a *app) *cobra.Command {
	o := &compactOptions{}
	cmd := o.newCmd(a,
		"compact [-s SESSION | --all] [--focus TEXT] [--redo ID | --revert ID] | --begin | "+
			"--commit FILE", func([]string) error { return o.run(a) })
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "compact every branch of every session")
	f.StringVar(&o.strategy, "strategy", "", "union-find or flat (default: compact.strategy)")
	f.BoolVar(&o.begin, "begin", false, "print claims, and change nothing")
	f.StringVar(&o.commit, "commit", "", "read summaries from a file; - is standard input")
	f.StringVar(&o.redo, "redo", "", "summarize cluster `ID` again, from its messages")
	f.StringVar(&o.revert, "revert", "", "restore the previous summary of cluster `ID`")
	f.StringVar(&o.focus, "focus", "", "keep what is about `TEXT` before all else")
	f.IntVar(&o.limit, "limit", 32000,
		"with --begin: the most tokens of inputs in a claim; longer clusters come in pieces")
	return cmd
}

// maxFocus is the most bytes of a focus. What is longer is no focus.
const maxFocus = 1000

// check refuses flags that exclude each other.
func (o *compactOptions) check() error {
	changed := o.cmd.Flags().Changed
	var modes []string
	for _, mode := range []string{"begin", "commit", "redo", "revert"} {
		if changed(mode) {
			modes = append(modes, "--"+mode)
		}
	}
	outside := changed("begin") || changed("commit")
	switch {
	case len(modes) > 1:
		return usagef("%s cannot be given together", strings.Join(modes, " and "))
	case o.all && (changed("session") || changed("branch")):
		return usagef("--all means every session: -s and -b cannot be given with it")
	case outside && (o.all || changed("session") || changed("branch") || changed("strategy")):
		return usagef(
			"%s is about the topics of all sessions: -s, -b, --all and --strategy cannot be "+
				"given with it", modes[0])
	case len(modes) > 0 && changed("strategy"):
		return usagef("--strategy cannot be given with %s", modes[0])
	case changed("commit") && o.commit == "":
		return usagef("--commit takes the name of a file, or - for standard input")
	case changed("focus") && (outside || changed("revert")):
		return usagef("--focus cannot be given with %s: it writes no summary", modes[0])
	case changed("focus") && strings.TrimSpace(o.focus) == "":
		return usagef("--focus takes a few words")
	case len(o.focus) > maxFocus:
		return usagef("--focus of more than %d bytes: it takes a few words", maxFocus)
	case changed("limit") && !o.begin:
		return usagef("--limit is for --begin")
	case o.limit < summaries.MinLimit:
		return usagef("--limit is %d or more: %d", summaries.MinLimit, o.limit)
	case changed("strategy"):
		if _, err := clusters.ForestOfStrategy(o.strategy); err != nil {
			return usagef("unknown --strategy: %.40q", o.strategy)
		}
	}
	return nil
}

func (o *compactOptions) run(a *app) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.commit != "" {
		return o.runCommit(a)
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if o.begin {
		return printClaims(a, s, view, o.limit)
	}
	branches, err := o.branches(s, view)
	if err != nil {
		return err
	}
	ask, err := a.summarizer(s)
	if err != nil {
		return err
	}
	o.helpers = ask != nil
	focus, found, err := sanitize.Text([]byte(o.focus))
	if err != nil {
		return err
	}
	a.sayCleaned("focus", found)
	done, err := o.compact(a.c, s, view,
		compaction.CompactOptions{Branches: branches, Strategy: o.strategy, Summarizer: ask,
			Focus: strings.TrimSpace(string(focus))})
	tellReasons(a, done)
	if err != nil {
		return err
	}
	defer a.tidy(s)
	if a.json {
		err = a.answer(done)
	} else {
		o.tell(a, done)
	}
	return cmp.Or(err, exitIf(done.Failed > 0, exitFailed))
}

// tell says what a compaction did, and what that saves.
func (o *compactOptions) tell(a *app, d summaries.Compaction) {
	n := d.Settled + d.Carried
	text := "nothing new to summarize"
	switch changed := o.cmd.Flags().Changed; {
	case n > 0 && changed("revert"):
		text = "the summary before stands again"
	case n > 0:
		text = "summarized " + plural(n, "topic", "topics")
	}
	if d.Before > 0 {
		was, is := usage.Tokens(d.Before), usage.Tokens(d.After)
		text += fmt.Sprintf(": %s tokens -> %s", inUnit(was, was), inUnit(is, was))
	}
	for _, more := range []struct {
		n         int
		one, many string
	}{
		{d.Evicted, "quiet topic is one line now", "quiet topics are one line each now"},
		{d.Lost, "summary came too late", "summaries came too late"},
		{d.Failed, "summary could not be made", "summaries could not be made"},
		{d.Dirty, "topic still needs a summary", "topics still need a summary"},
	} {
		if more.n > 0 {
			text += "; " + plural(more.n, more.one, more.many)
		}
	}
	a.line("%s", text)
	switch {
	case o.focus == "":
	case d.Focused > 0:
		a.line("%s", plural(d.Focused, "sentence about the focus comes first",
			"sentences about the focus come first"))
	case n > 0 && !o.helpers:
		a.say("ctx: compact: no sentence is about the focus")
	case n+d.Known == 0:
		a.say("hint: no topic needs a summary: `ctx compact --redo ID --focus TEXT` makes one again")
	}
}

// inUnit writes a number in the unit that fits it, beside a larger one: "9.3 M", "42.2 k", and
// "9,999" beside "9,999".
func inUnit(n, large int64) string {
	switch {
	case n < 1_000, large < 10_000:
		return grouped(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f k", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}

// compact runs the compaction that the flags ask for.
func (o *compactOptions) compact(
	c context.Context, s *session.Store, view *refs.View, options compaction.CompactOptions,
) (summaries.Compaction, error) {
	defer graph.Frugal(graph.Upkeep)()
	repair, rev := s.Compaction.RedoSummary, o.redo
	switch changed := o.cmd.Flags().Changed; {
	case changed("revert"):
		repair, rev = s.Compaction.RevertSummary, o.revert
	case !changed("redo"):
		return s.Compaction.Compact(c, options)
	}
	id, err := resolve(s, view, rev)
	if err != nil {
		return summaries.Compaction{}, err
	}
	return repair(c, id, options)
}

func (o *compactOptions) branches(s *session.Store, view *refs.View) ([]history.BranchName, error) {
	if !o.all {
		name, branch, _, err := o.tip(s, view)
		return []history.BranchName{{Session: name, Branch: branch}}, err
	}
	list, err := s.Recall.Sessions(view)
	if err != nil {
		return nil, err
	}
	var all []history.BranchName
	for _, one := range list {
		if _, shared := history.Owner(view, one.Name); shared {
			continue // its owner compacts it
		}
		for _, b := range one.Branches {
			all = append(all, history.BranchName{Session: one.Name, Branch: b.Name})
		}
	}
	return all, nil
}

func printCompaction(a *app, d summaries.Compaction) error {
	if a.json {
		return a.answer(d)
	}
	failed := ""
	if d.Failed > 0 {
		failed = fmt.Sprintf(", failed %d", d.Failed)
	}
	a.line("settled %d, carried %d, lost %d, known %d%s, evicted %d, dirty %d, %s",
		d.Settled, d.Carried, d.Lost, d.Known, failed, d.Evicted, d.Dirty,
		plural(d.Roots, "cluster", "clusters"))
	return nil
}

// tellReasons reports why summaries were not used, one line for each kind of reason.
func tellReasons(a *app, d summaries.Compaction) {
	for _, r := range d.Reasons {
		a.say("ctx: compact: %s %d: %s", r.Outcome, r.Count, r.Why)
	}
}
