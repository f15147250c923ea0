package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

type replaceOptions struct {
	branchFlags
	begin, partial bool
	commit, on     string
}

func newReplaceCmd(a *app) *cobra.Command {
	o := &replaceOptions{}
	cmd := o.newCmd(a, "replace --begin [-s SESSION] [--on DRAFT] ID... | --commit FILE "+
		"[--partial] | list",
		func(args []string) error { return o.run(a, args) })
	cmd.Args = between(0, -1)
	cmd.AddCommand(newReplaceListCmd(a))
	f := cmd.Flags()
	f.BoolVar(&o.begin, "begin", false, "print claims, and change nothing")
	f.StringVar(&o.on, "on", "", "with --begin: go on from the answer `DRAFT`")
	f.StringVar(&o.commit, "commit", "", "read texts from a file; - is standard input")
	f.BoolVar(&o.partial, "partial", false, "with --commit: leave out what has changed")
	return cmd
}

func (o *replaceOptions) run(a *app, args []string) error {
	changed := o.cmd.Flags().Changed
	switch {
	case o.begin == changed("commit"):
		return usagef("replace needs one of --begin and --commit")
	case o.begin && o.partial:
		return usagef("--partial is for --commit")
	case !o.begin && changed("on"):
		return usagef("--on is for --begin")
	case o.begin && len(args) == 0:
		return usagef("--begin needs the ids that are to be replaced")
	case o.begin:
		return o.runBegin(a, args)
	case len(args) > 0 || changed("session") || changed("branch"):
		return usagef("--commit takes only a file: each claim says which branch it is for")
	case o.commit == "":
		return usagef("--commit takes the name of a file, or - for standard input")
	}
	return o.runCommit(a)
}

// runBegin prints claims for the arguments.
func (o *replaceOptions) runBegin(a *app, args []string) error {
	var draft summaries.Answer
	if o.cmd.Flags().Changed("on") {
		var err error
		if draft, err = o.draft(a); err != nil {
			return err
		}
	}
	b, err := o.openTip(a)
	if err != nil {
		return err
	}
	var targets []format.Target
	var whole []format.ID // clusters
	for _, arg := range args {
		t, cluster, err := b.replaceTarget(arg)
		switch {
		case err != nil:
			return err
		case cluster:
			whole = append(whole, t.Entry)
		default:
			targets = append(targets, t)
		}
	}
	if draft.Claim != "" {
		if len(whole) > 0 {
			return usagef("--on goes on from an answer about messages: no cluster can be with it")
		}
		claim, err := b.s.Edits.BeginReplaceOn(b.view, draft, targets)
		if err != nil {
			return err
		}
		return printReplaceClaim(a, claim)
	}
	claims, err := b.s.Edits.BeginReplace(b.view, b.name, b.branch, targets, whole)
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if err := printReplaceClaim(a, claim); err != nil {
			return err
		}
	}
	return nil
}

// draft reads the answer that --on names, and takes the branch from it.
func (o *replaceOptions) draft(a *app) (summaries.Answer, error) {
	s, _, err := a.openView()
	if err != nil {
		return summaries.Answer{}, err
	}
	list, err := o.answers(a, s, o.on)
	if err != nil {
		return summaries.Answer{}, err
	}
	if len(list) != 1 {
		return summaries.Answer{}, usagef("--on takes one answer, not %d", len(list))
	}
	claim, err := summaries.ParseReplacement(list[0].Claim)
	if err != nil {
		return summaries.Answer{}, err
	}
	changed := o.cmd.Flags().Changed
	if changed("session") && o.session != claim.Session || changed("branch") &&
		o.branch != claim.Branch {
		return summaries.Answer{}, usagef("the draft is about %s/%s", claim.Session, claim.Branch)
	}
	o.session, o.branch, o.whole = claim.Session, claim.Branch, true
	return list[0], nil
}

// answers reads the answers in a file, or the one that was refused and has the id.
func (o *replaceOptions) answers(
	a *app, s *session.Store, file string,
) ([]summaries.Answer, error) {
	if answer, ok := s.Edits.Kept(file); ok {
		return []summaries.Answer{answer}, nil
	}
	return a.readAnswers(file, "replace", checkReplacement)
}

// replaceTarget resolves an argument of replace: an entry, a part of one, or a cluster by its node,
// summary or tombstone.
func (b *openBranch) replaceTarget(arg string) (t format.Target, cluster bool, err error) {
	t.Part = format.WholeEntry
	id, err := resolve(b.s, b.view, clusters.InBranch(arg, b.name, b.branch))
	if clusters.IsMissing(err) {
		t, err = b.target(arg)
		return t, false, err
	}
	if err != nil {
		return t, false, err
	}
	t.Entry = id
	header, err := b.s.Objects.Header(id)
	if err != nil {
		return t, true, nil // the node of a cluster that is not written yet
	}
	kind, _, err := format.HeaderKind(header)
	return t, kind != "entry", err
}

type replaceInputDoc struct {
	Kind   string    `json:"kind"` // entry, part, replacement or draft
	ID     format.ID `json:"id"`
	Part   *int      `json:"part"` // null for a whole entry
	Role   string    `json:"role"`
	Author string    `json:"author,omitempty"`
	Time   string    `json:"time"`
	Call   string    `json:"call,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Text   string    `json:"text"`
}

func printReplaceClaim(a *app, claim edits.ReplaceClaim) error {
	if !a.json {
		a.line("%s", claim.ID)
		return nil
	}
	kind, tokens := "entries", (*int)(nil) // no bound
	if claim.Cluster {
		kind, tokens = "cluster", &claim.Tokens
	}
	var inputs []replaceInputDoc
	for _, in := range claim.Inputs {
		one := replaceInputDoc{
			Kind: in.Kind, ID: in.Entry, Role: in.Role, Author: in.Author,
			Time: document.TimeText(in.Time), Call: in.Call, Tool: in.Tool, Text: in.Text,
		}
		if in.Part != format.WholeEntry {
			one.Part = &in.Part
		}
		inputs = append(inputs, one)
	}
	return a.answer("claim", claim.ID, "kind", kind, "tokens", tokens, "inputs", inputs)
}

// checkReplacement validates an answer for a claim of replace.
func checkReplacement(answer *summaries.Answer) error {
	return summaries.CheckReplacement(answer.Claim)
}

// runCommit reads all answers and then commits them.
func (o *replaceOptions) runCommit(a *app) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	answers, err := o.answers(a, s, o.commit)
	if err != nil {
		return err
	}
	done, err := s.Edits.CommitReplace(a.c, answers, edits.ReplaceOptions{Partial: o.partial})
	if errors.Is(err, history.ErrStale) {
		err = withHint(err, "`ctx replace list` shows the answers that were refused")
	}
	if err != nil {
		return err
	}
	for _, l := range done.Lost {
		a.say("ctx: replace: left out: %v", l)
	}
	if done.Unseen > 0 {
		a.say(
			"ctx: replace: %d of %d are in clusters now: the text takes their place there when "+
				"the window next moves", done.Unseen, done.Replaced)
	}
	if a.json {
		return a.answer("ids", done.Entries, "replaced", done.Replaced, "settled", done.Settled,
			"carried", done.Carried,
			"known", done.Known, "lost", done.Lost, "unseen", done.Unseen)
	}
	for _, id := range done.Entries {
		a.line("%v", id)
	}
	if n := done.Settled + done.Carried; n > 0 {
		a.say(
			"ctx: replace: %s summarized again: sessions render the summary when their windows "+
				"next move", plural(n, "cluster", "clusters"))
	}
	if done.Known > 0 {
		a.say("ctx: replace: %s there already", plural(done.Known, "answer was", "answers were"))
	}
	return nil
}
