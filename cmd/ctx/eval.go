package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/eval"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/machine"
	"github.com/gemini-ctx/ctx/session"
)

type evalOptions struct {
	branchFlags
	only   []string
	seed   uint64
	timing bool
}

func newEvalCmd(a *app) *cobra.Command {
	o := &evalOptions{}
	cmd := &cobra.Command{
		Use:   "eval [PATH… | -s SESSION]",
		Short: "Measure clusters, summaries and search on conversations",
		Long: long(`Measures what ctx makes of conversations, beside simpler rules: how well topics are told apart, which facts are left at so many
tokens, whether what answers a question is found, and that everything that is shown can be expanded to the exact words. Of agents' sessions
it also measures how well an agent could go on: how much of what comes next is in the context that ctx renders.

PATH is a file NAME.messages.jsonl or a transcript of Claude Code or Codex, NAME.jsonl, with questions in NAME.facts.jsonl beside it if
there are any; or a directory of such files, whose transcripts are one set. SESSION is a session of the store here, of which everything is
measured that needs no labels. Without either, the conversations that ctx brings along are measured.

All work is done on copies in a temporary directory. Unless summarize.chain names helpers, which then word the summaries, no model is
asked, and the same input and settings give the same output on every machine, but for --timing.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx eval\n  ctx eval --only clustering talks.messages.jsonl --json\n" +
			"  ctx eval --only continuation,known ~/.claude/projects/-home-ann-work\n  ctx eval -s work",
		Args: between(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, args)
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	f := cmd.Flags()
	f.StringSliceVar(&o.only, "only", nil, "measure only these `PARTS`: "+strings.Join(eval.Parts(), ", "))
	f.Uint64Var(&o.seed, "seed", 1, "the seed `N` of what is drawn")
	f.BoolVar(&o.timing, "timing", false, "measure how long append, graduate and render take, too")
	completeFlag(cmd, "only", cobra.FixedCompletions(eval.Parts(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *evalOptions) run(c context.Context, a *app, args []string) error {
	if err := eval.CheckParts(o.only); err != nil {
		return withHint(usagef("bad --only: %v", err), "%s are the parts", strings.Join(eval.Parts(), ", "))
	}
	sets, err := o.sets(a, args)
	if err != nil {
		return err
	}
	a.watchInterrupts()
	options := eval.Options{
		Only: o.only, Seed: o.seed, Version: machine.Version(),
		Settings:   eval.Settings{UserConfig: a.userConf, Getenv: a.getenv, Overrides: a.overrides},
		Summarizer: func(s *session.Store) (summarize.Summarizer, error) { return a.summarizer(c, s) },
	}
	if o.timing {
		options.Clock = time.Now
	}
	report, err := eval.Run(c, sets, options)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(report)
	}
	return report.WriteText(a.out)
}

// sets are what the command line names.
func (o *evalOptions) sets(a *app, args []string) ([]eval.Set, error) {
	stored := o.cmd.Flags().Changed("session") || o.cmd.Flags().Changed("branch")
	switch {
	case stored && len(args) > 0:
		return nil, usagef("a session of the store or a PATH: not both")
	case stored:
		return o.stored(a)
	case len(args) == 0:
		return eval.Own(o.seed), nil
	}
	return filesToSets(a, args)
}

// stored is the session of the store here.
func (o *evalOptions) stored(a *app) ([]eval.Set, error) {
	s, view, err := a.openView()
	if err != nil {
		return nil, err
	}
	name, _, tip, err := o.tip(view)
	if err != nil {
		return nil, err
	}
	set, err := eval.FromStore(s, tip.ID, name)
	return []eval.Set{set}, err
}
