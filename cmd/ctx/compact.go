package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

type compactOptions struct {
	branchFlags
	all      bool
	strategy string
	begin    bool
	commit   string
	limit    int
}

func newCompactCmd(a *app) *cobra.Command {
	o := &compactOptions{}
	cmd := &cobra.Command{
		Use:   "compact [-s SESSION | --all] | --begin | --commit FILE",
		Short: "Summarise clusters and shorten what a session renders",
		Long: long(`Moves what left the window into clusters, summarises every cluster that wants it, makes one-line tombstones of the clusters that were
quiet longest (above forest.max_cold_clusters), and has the session render the result: summaries of what is old, and the newest messages word
for word. Nothing is removed: `+"`ctx expand`"+` gives back the words behind every summary and tombstone.

Reported are the summaries that cover their cluster (settled), those over a part of it, since it has grown meanwhile (carried), those that came
too late (lost) or were there already (known), those that could not be had (failed), the clusters that became tombstones (evicted), and those
that still want a summary (dirty). A cluster without a summary is as it was, and is asked about again the next time.

With --begin nothing is changed: what wants a summary is printed for workers outside, a line each:

  {"v":1,"claim":"…","cluster":4,"tokens":800,"generation":1,"inputs":[…]}

with an input for each message, {"kind":"entry","id":"…","role":"user","author":"…","time":"…","text":"…"}. An input of the kind "summary" stands for earlier messages. The answer is to sum up all inputs, in at most so many tokens. --commit takes answers
back, in any order and at any time:

  {"v":1,"claim":"…","text":"…","summarizer":"NAME","version":"…","prompt":"…"}

"prompt" is the SHA-256 of the prompt, where there was one. Nothing is reserved in between: a claim's id proves what was claimed, and each answer is held against the forest as it is then. A line that is not
such an object is an error that names it, and nothing of the input is taken. Exit code 1 says that some answers could not be used; the others are in.
No session renders anything else for it: that is for the next compaction without --commit, or for a message that cuts the window.`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: "  ctx compact -s work\n  ctx compact --all --json\n  ctx compact --begin --json | my-worker | ctx compact --commit -",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), a)
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "every branch of every session")
	f.StringVar(&o.strategy, "strategy", "union-find", "how messages are put together: union-find")
	f.BoolVar(&o.begin, "begin", false, "print what wants a summary, and change nothing")
	f.StringVar(&o.commit, "commit", "", "take summaries from a file, - for standard input")
	f.IntVar(&o.limit, "limit", 32000, "with --begin: the most tokens of inputs in a claim; longer clusters come in pieces")
	return cmd
}

// check refuses flags that do not go together.
func (o *compactOptions) check() error {
	changed := o.cmd.Flags().Changed
	modes := 0
	for _, on := range []bool{o.begin, changed("commit")} {
		if on {
			modes++
		}
	}
	named := changed("session") || changed("branch")
	switch {
	case o.strategy == "flat":
		return withHint(usagef("strategy flat is not available yet"), "union-find is")
	case o.strategy != "union-find":
		return usagef("unknown --strategy: %.40q", o.strategy)
	case o.all && named:
		return usagef("--all means every session: -s and -b cannot be given with it")
	case modes > 1:
		return usagef("--begin and --commit cannot be given together")
	case modes > 0 && (o.all || named):
		return usagef("--begin and --commit are about the clusters of all sessions: -s, -b and --all cannot be given with them")
	case changed("limit") && !o.begin:
		return usagef("--limit is for --begin")
	case o.limit < 1:
		return usagef("--limit is 1 or more: %d", o.limit)
	}
	return nil
}

func (o *compactOptions) run(c context.Context, a *app) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.commit != "" {
		return o.runCommit(c, a)
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if o.begin {
		return printClaims(c, a, s, view, o.limit)
	}
	branches, err := o.branches(s, view)
	if err != nil {
		return err
	}
	done, err := s.Compact(c, session.CompactOptions{Branches: branches})
	tellReasons(a, done)
	if err != nil {
		return err
	}
	defer a.tidy(c, s)
	return printCompaction(a, done)
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

type compactionDoc struct {
	V       int     `json:"v"`
	Settled int     `json:"settled"`
	Carried int     `json:"carried"`
	Lost    int     `json:"lost"`
	Known   int     `json:"known"`
	Evicted int     `json:"evicted"`
	Dirty   int     `json:"dirty"`
	Roots   int     `json:"roots"`
	Forest  *string `json:"forest"`
	Failed  int     `json:"failed"`
}

func printCompaction(a *app, d session.Compaction) error {
	if a.json {
		return a.printJSON(compactionDoc{1, d.Settled, d.Carried, d.Lost, d.Known, d.Evicted, d.Dirty, d.Roots, idText(d.Forest), d.Failed})
	}
	failed := ""
	if d.Failed > 0 {
		failed = fmt.Sprintf(", failed %d", d.Failed)
	}
	a.line("settled %d, carried %d, lost %d, known %d%s, evicted %d, dirty %d, %s",
		d.Settled, d.Carried, d.Lost, d.Known, failed, d.Evicted, d.Dirty, plural(d.Roots, "cluster", "clusters"))
	return nil
}

// tellReasons says why summaries were not used, a line a kind.
func tellReasons(a *app, d session.Compaction) {
	for _, r := range d.Reasons {
		a.say("ctx: compact: %s %d: %s", r.Outcome, r.Count, r.Why)
	}
}
