package main

import (
	"context"
	"fmt"
	"strings"

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
	redo     string
	revert   string
}

func newCompactCmd(a *app) *cobra.Command {
	o := &compactOptions{}
	cmd := &cobra.Command{
		Use:   "compact [-s SESSION | --all] [--redo ID | --revert ID] | --begin | --commit FILE",
		Short: "Summarise clusters and shorten what a session renders",
		Long: long(`Moves what left the window into clusters, summarises every cluster that wants it, makes one-line tombstones of the clusters of each session that were
quiet longest (above forest.max_cold_clusters), and has the session render the result: summaries of what is old, and the newest messages word
for word. Nothing is removed: `+"`ctx expand`"+` gives back the words behind every summary and tombstone.

Reported are the summaries that cover their cluster (settled), those over a part of it, since it has grown meanwhile (carried), those that came
too late (lost) or were there already (known), those that could not be had (failed), the clusters that became tombstones (evicted), and those
that still want a summary (dirty). A cluster without a summary is as it was, and is asked about again the next time; the exit code is 1
where a summary could not be had. A session that
has clusters already goes on rendering what it does where the result would not be shorter.

With --strategy flat, or compact.strategy in the settings, or coreTools.compression.strategy in the project's .gemini/settings.json, everything
old goes into one cluster instead of one for each topic. What is damaged is passed over in that way, too, with a warning, until `+"`ctx rebuild`"+`.

A summary that is bad is made again from the messages with --redo, at once; --revert puts back the one before it, and doing that twice puts the
bad one back. ID is the cluster's or the summary's; only that cluster is summarised, and the session renders the result.

With --begin nothing is changed: what wants a summary is printed, with --json for workers outside, a line each:

  {"v":1,"claim":"…","cluster":4,"tokens":800,"generation":1,"inputs":[…]}

with an input for each message, {"kind":"entry","id":"…","role":"user","author":"…","time":"…","text":"…"}. An input of the kind "summary" stands for earlier messages. The answer is to sum up all inputs, in at most so many tokens. --commit takes answers
back, in any order and at any time:

  {"v":1,"claim":"…","text":"…","summarizer":"NAME","version":"…","prompt":"…"}

"claim" and "text" have to be there; "prompt" is the SHA-256 of the prompt, where there was one. Nothing is reserved in between: a claim's id proves what was claimed, and each answer is held against the forest as it is then. A line that is not
such an object is an error that names it, and nothing of the input is taken. Exit code 12 says that some answers came too late (lost), 1 that some could not be used (failed); the others are in.
No session renders anything else for it: that is for the next compaction without --commit, or for a message that cuts the window.`,
			exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example: "  ctx compact -s work\n  ctx compact --all --json\n  ctx compact --redo 60319200b04e\n  ctx compact --begin --json | my-worker | ctx compact --commit -",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), a)
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "every branch of every session")
	f.StringVar(&o.strategy, "strategy", "", "how messages are put together: union-find or flat (default: as set)")
	f.BoolVar(&o.begin, "begin", false, "print what wants a summary, and change nothing")
	f.StringVar(&o.commit, "commit", "", "take summaries from a file, - for standard input")
	f.StringVar(&o.redo, "redo", "", "summarise a cluster from its messages again")
	f.StringVar(&o.revert, "revert", "", "put back the summary that a cluster had before")
	f.IntVar(&o.limit, "limit", 32000, "with --begin: the most tokens of inputs in a claim; longer clusters come in pieces")
	return cmd
}

// check refuses flags that do not go together.
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
		return usagef("%s is about the topics of all sessions: -s, -b, --all and --strategy cannot be given with it", modes[0])
	case len(modes) > 0 && changed("strategy"):
		return usagef("--strategy cannot be given with %s", modes[0])
	case changed("commit") && o.commit == "":
		return usagef("--commit takes the name of a file, or - for standard input")
	case changed("limit") && !o.begin:
		return usagef("--limit is for --begin")
	case o.limit < session.LeastLimit:
		return usagef("--limit is %d or more: %d", session.LeastLimit, o.limit)
	case changed("strategy"):
		if _, err := session.ForestOfStrategy(o.strategy); err != nil {
			return usagef("unknown --strategy: %.40q", o.strategy)
		}
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
	ask, err := a.summarizer(c, s)
	if err != nil {
		return err
	}
	done, err := o.compact(c, s, view, session.CompactOptions{Branches: branches, Strategy: o.strategy, Summarizer: ask})
	tellReasons(a, done)
	if err != nil {
		return err
	}
	defer a.tidy(c, s)
	if err := printCompaction(a, done); err != nil {
		return err
	}
	if done.Failed > 0 {
		return &exitError{exitFailed}
	}
	return nil
}

// compact does what the flags ask for.
func (o *compactOptions) compact(c context.Context, s *session.Store, view *refs.View, options session.CompactOptions) (session.Compaction, error) {
	repair, rev := s.RedoSummary, o.redo
	switch changed := o.cmd.Flags().Changed; {
	case changed("revert"):
		repair, rev = s.RevertSummary, o.revert
	case !changed("redo"):
		return s.Compact(c, options)
	}
	id, err := resolve(s, view, rev)
	if err != nil {
		return session.Compaction{}, err
	}
	return repair(c, id, options)
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

	Strategy string `json:"strategy"`
}

func printCompaction(a *app, d session.Compaction) error {
	if a.json {
		return a.printJSON(compactionDoc{1, d.Settled, d.Carried, d.Lost, d.Known, d.Evicted, d.Dirty, d.Roots, idText(d.Forest), d.Failed, d.Strategy})
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
