package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/upkeep"
)

// The least and the most bytes of a text that is to be forgotten wherever it stands. What is shorter stands in everything.
const (
	minForgetText = 4
	maxForgetText = 1 << 20
)

type forgetOptions struct {
	text, rule    string
	dryRun, force bool
	cmd           *cobra.Command
}

func newForgetCmd(a *app) *cobra.Command {
	o := &forgetOptions{}
	cmd := &cobra.Command{
		Use:   "forget (ID... | --text STRING | --rule CLASS) [--dry-run] [--force]",
		Short: "Remove words for good, with everything that was made of them",
		Long: long(`Removes what a message said from every place of the store, and with it all that was made of it: summaries, tombstones, masks,
replacements, epochs, the cache. Headers stay, so that ids, history and `+"`ctx fsck`"+` hold; `+"`ctx log`"+` says that it is gone. Nothing
brings it back: neither undo, nor a second import of the transcript, nor a summary that somebody makes.

An ID is an entry, with all its versions; a cluster or a tombstone, which stands for its members; a summary, a blob or an epoch, each for itself. With
--text every body goes that holds the text anywhere, as a whole; - reads the text from standard input, so that it does not stand in the list of
processes. With --rule every body goes in which `+"`ctx scan`"+` finds a secret of the class, or of any with "all". A text or a rule asks on a
terminal, and needs --force elsewhere. Clusters that lose a summary are summarised again by the next `+"`ctx compact`"+`.

Copies elsewhere are not touched: the agents' own transcripts, bundles, backups, what a model was sent. A secret that was said should be changed.`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example:           "  ctx forget 3f9a6c01\n  ctx forget --dry-run --rule all --json\n  pass show old-key | ctx forget --force --text -",
		Args:              between(0, -1),
		ValidArgsFunction: a.completeRevs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.cmd = cmd
			return o.run(cmd.Context(), a, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.text, "text", "", "what holds this `STRING`; - reads it from standard input")
	f.StringVar(&o.rule, "rule", "", "what holds a secret of this `CLASS`, or all")
	f.BoolVar(&o.dryRun, "dry-run", false, "list what would go, and change nothing")
	f.BoolVar(&o.force, "force", false, "do not ask")
	return cmd
}

func (o *forgetOptions) run(c context.Context, a *app, args []string) error {
	set, err := o.read(a, args)
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	for _, rev := range args {
		id, err := s.Resolve(view, rev)
		if err != nil {
			return err
		}
		set.IDs = append(set.IDs, id)
	}
	if len(args) == 0 && !o.dryRun && !o.force {
		if err := o.ask(c, a, s, set); err != nil {
			return err
		}
	}
	show, done := a.progress()
	set.Progress = show
	report, err := upkeep.Forget(c, s, set)
	done()
	if err != nil {
		return err
	}
	return o.print(a, report)
}

// read makes the options of the flags.
func (o *forgetOptions) read(a *app, args []string) (set upkeep.ForgetOptions, err error) {
	set.DryRun = o.dryRun
	byText, byRule := o.cmd.Flags().Changed("text"), o.cmd.Flags().Changed("rule")
	switch {
	case byText && byRule, len(args) > 0 && (byText || byRule):
		return set, usagef("one of ids, --text and --rule is given at a time")
	case len(args) == 0 && !byText && !byRule:
		return set, withHint(usagef("nothing is named that should be forgotten"), "`ctx log` and `ctx search` print ids")
	case byRule:
		if o.rule == "" || strings.ContainsFunc(o.rule, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && (r < '0' || r > '9') }) {
			return set, usagef("bad --rule: %.40q: a class is a word such as password, or all", o.rule)
		}
		set.Rule = o.rule
	case byText:
		text := []byte(o.text)
		if o.text == "-" {
			if text, err = a.readInput("-", maxForgetText); err != nil {
				return set, fmt.Errorf("cannot read the text: %w", err)
			}
			text = bytes.TrimRight(text, "\r\n")
		}
		if n := len(bytes.TrimSpace(text)); n < minForgetText || len(text) > maxForgetText {
			return set, usagef("a text of %d bytes: %d are the least, %d the most", n, minForgetText, maxForgetText)
		}
		set.Text = string(text)
	}
	return set, nil
}

// ask says how much would go.
func (o *forgetOptions) ask(c context.Context, a *app, s *session.Store, set upkeep.ForgetOptions) error {
	if o.text == "-" || !asked(a.inTerm) {
		return withHint(usagef("will not forget by a text or a rule without being sure"), "--dry-run lists what would go; --force does it without asking")
	}
	set.DryRun = true
	report, err := upkeep.Forget(c, s, set)
	if err != nil || len(report.Objects) == 0 {
		return err
	}
	return a.confirm("forget for good %s", whatGoes(&report))
}

// whatGoes counts what goes by kind.
func whatGoes(r *upkeep.ForgetReport) string {
	n := map[string]int{}
	for _, kind := range r.Kinds {
		n[kind]++
	}
	return plural(len(r.Objects), "body", "bodies") + " (" + counts(n) + ")"
}

type forgetDoc struct {
	V           int             `json:"v"`
	DryRun      bool            `json:"dry_run"`
	Operation   *uint64         `json:"operation"` // null where nothing was recorded
	Forgotten   []goneObjectDoc `json:"forgotten"`
	Already     int             `json:"already"`   // named, and gone before
	Summaries   int             `json:"summaries"` // that clusters lost
	Remains     []string        `json:"remains"`   // files in which something may be left
	Unread      []string        `json:"unread"`    // files that cannot be looked into
	Transcripts []sourceNameDoc `json:"transcripts"`
}

type goneObjectDoc struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

type sourceNameDoc struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
}

func (o *forgetOptions) print(a *app, r upkeep.ForgetReport) error {
	d := forgetDoc{
		V: 1, DryRun: o.dryRun, Forgotten: []goneObjectDoc{}, Already: r.Already, Summaries: r.Covers,
		Remains: append([]string{}, r.Remains...), Unread: append([]string{}, r.Unread...), Transcripts: []sourceNameDoc{},
	}
	if r.Operation > 0 {
		d.Operation = &r.Operation
	}
	for _, id := range slices.SortedFunc(maps.Keys(r.Kinds), format.ID.Compare) {
		d.Forgotten = append(d.Forgotten, goneObjectDoc{id.String(), r.Kinds[id]})
	}
	for _, src := range r.Sources {
		d.Transcripts = append(d.Transcripts, sourceNameDoc{src.Agent, src.Session})
	}
	if a.json {
		if err := a.printJSON(d); err != nil {
			return err
		}
	} else {
		for _, g := range d.Forgotten {
			a.line("%s %s", g.ID, g.Kind)
		}
		o.tell(a, r)
	}
	switch left := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(r.Remains), r.Unread...)))); {
	case len(left) == 0:
		return nil
	case o.dryRun:
		a.say("what is in %s cannot be looked into", strings.Join(left, ", "))
		return nil
	default:
		return withHint(fmt.Errorf("forgotten, but something may be left in %s", strings.Join(left, ", ")),
			"what is damaged cannot be looked into: `ctx fsck` names it; names of sessions, authors and tools stay as they are")
	}
}

func (o *forgetOptions) tell(a *app, r upkeep.ForgetReport) {
	switch {
	case len(r.Objects) == 0 && r.Already > 0:
		a.say("it is gone already")
		return
	case len(r.Objects) == 0 && len(r.Remains)+len(r.Unread) > 0:
		a.say("no body that can be read holds it")
	case len(r.Objects) == 0:
		a.say("nothing that is stored holds it")
	case o.dryRun:
		a.say("%s would go", whatGoes(&r))
		return
	default:
		a.say("operation %d: forgot %s", r.Operation, whatGoes(&r))
	}
	var own []string
	for _, src := range r.Sources {
		own = append(own, oneLine(src.Agent+" "+src.Session))
	}
	if len(own) > 0 {
		a.say("not touched are the agents' own transcripts: %s", strings.Join(own, ", "))
	}
	if len(r.Objects) > 0 {
		a.say("nor are bundles and other copies, nor what a model was sent: change a secret that was said")
	}
}

// errFound says that a scan found something.
var errFound = errors.New("secrets are stored")
