package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/epoch"
)

func newEpochCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "epoch observe|preview|show|guard",
		Short: "Record what the model was told of the world",
		Long: long(`What an agent tells its model beside the conversation (the date, the directory, AGENTS.md, the tools) is told once, as a block before
everything else that stays the same byte for byte, so that a provider's prompt cache stays warm. What changes later is told as an update, at
the place in the conversation where it was noticed. The next leave makes a new block of it. docs/epochs.md is the guide.`),
		Example: "  ctx epoch observe -s work < observations\n  ctx epoch show -s work",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	cmd.AddCommand(newEpochObserveCmd(a), newEpochPreviewCmd(a), newEpochShowCmd(a), newEpochGuardCmd(a))
	return cmd
}

type observeOptions struct {
	branchFlags
	expect  string
	preview bool
}

func newEpochObserveCmd(a *app) *cobra.Command {
	o := &observeOptions{}
	cmd := o.command(a, "observe")
	cmd.Short = "Record what is so now, and print what the model has to be told"
	cmd.Long = long(`Reads what an agent's sources say now, each a line, in the order in which the model is told:

  {"key":"core/date","value":"2026-11-21","first":"Today is …","changed":"It is … now","removed_text":"…"}
  {"key":"core/env","unavailable":true}
  {"key":"core/skills","removed":true,"removed_text":"There are no skills any more"}

and prints what the model has to be told: the first time the initial block, later an update, in its wrapper, of everything that has changed, or nothing.
It is recorded in one operation, before the prompt that follows it is appended. Where nothing has changed, nothing is written.

Values are compared, texts are not: a text is kept as it was when its value was told. A source that is "unavailable" is believed as before; the first
time it blocks (16), and nothing is written. Only "removed" takes a key away; one that is left out is believed as before. While a tool call waits for
its result it is refused (12).

A session that does not exist is created. What looks like a secret is replaced before anything is compared or stored.`,
		exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound, exitBlocked)
	cmd.Example = "  ctx epoch observe -s work < observations\n  ctx epoch observe -s work --json observations.jsonl"
	return cmd
}

func newEpochPreviewCmd(a *app) *cobra.Command {
	o := &observeOptions{preview: true}
	cmd := o.command(a, "preview")
	cmd.Short = "Print what `ctx epoch observe` would say, and write nothing"
	cmd.Long = long("Reads the same lines as `ctx epoch observe`, gives the same answer, and writes nothing.",
		exitNoStore, exitStale, exitCorrupt, exitNotFound, exitBlocked)
	cmd.Example = "  ctx epoch preview -s work --json < observations"
	return cmd
}

func (o *observeOptions) command(a *app, name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:  name + " [-s SESSION] [FILE]",
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, append(args, "-")[0])
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail if the branch's tip is not this entry")
	return cmd
}

func (o *observeOptions) run(c context.Context, a *app, file string) error {
	lines, err := a.readInput(file, epoch.MaxInput)
	if err != nil {
		return fmt.Errorf("cannot read the observations: %w", err)
	}
	set, err := epoch.Read(lines)
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	name, branch, err := o.pick(view)
	if session.IsMissing(err) {
		err = withHint(usagef("no session named"), "-s NAME names one; it need not exist")
	}
	if err != nil {
		return err
	}
	done, err := o.observe(c, s, view, name, branch, set)
	if errors.Is(err, session.ErrBlocked) {
		return withHint(err, "nothing was written: observe again when they can be read")
	}
	if err != nil {
		return err
	}
	if len(set.Found) > 0 {
		a.say("ctx: epoch: cleaned: %s", counts(byClass(set.Found)))
	}
	if len(done.Forgotten) > 0 {
		a.say("ctx: epoch: passed over, since it was forgotten: %s", strings.Join(done.Forgotten, ", "))
	}
	return printObserved(a, done)
}

func (o *observeOptions) observe(c context.Context, s *session.Store, view *refs.View, name, branch string, set *epoch.Set) (session.Observed, error) {
	var options session.ObserveOptions
	if o.expect != "" {
		var err error
		if options.Expect, err = resolveEntry(s, view, inBranch(o.expect, name, branch)); err != nil {
			return session.Observed{}, err
		}
	}
	if o.preview {
		return s.Preview(view, name, branch, set, options)
	}
	return s.Observe(c, name, branch, set, options)
}

type observedDoc struct {
	V      int               `json:"v"`
	Result string            `json:"result"`
	Entry  *string           `json:"entry"` // null where nothing was written
	Epoch  *string           `json:"epoch"`
	Delta  map[string]string `json:"delta"`
	Text   string            `json:"text"`
}

func printObserved(a *app, done session.Observed) error {
	if a.json {
		return a.printJSON(observedDoc{1, done.Result, idText(done.Entry), idText(done.Epoch), deltaDoc(done.Delta), done.Text})
	}
	switch {
	case done.Text == "":
	case done.Result == epoch.Updated:
		a.line("%s", epoch.Wrap(done.Text))
	default:
		a.line("%s", done.Text)
	}
	return nil
}

// deltaDoc gives each key that changed its new value's blob, or says that it was removed.
func deltaDoc(delta []epoch.Change) map[string]string {
	doc := map[string]string{}
	for _, c := range delta {
		doc[c.Key] = "removed"
		if !c.Value.IsZero() {
			doc[c.Key] = c.Value.String()
		}
	}
	return doc
}
