package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
)

func newEpochCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "epoch observe|preview|show|guard",
		Short: "Record what the model is told about its environment",
		Long: long(`An agent tells its model facts that are not part of the conversation: the date,
the directory, AGENTS.md, the tools. ctx keeps these facts in one block before everything else,
which stays the same byte for byte, so that a provider's prompt cache stays warm. A later change
becomes an update at the place in the conversation where it was noticed. When old messages leave the
window, a new block includes the updates. See docs/epochs.md.`),
		Example: "  ctx epoch observe -s work < observations\n  ctx epoch show -s work",
	}
	return group(cmd, newEpochObserveCmd(a), newEpochPreviewCmd(a), newEpochShowCmd(a),
		newEpochGuardCmd(a))
}

type observeOptions struct {
	branchFlags
	expect  string
	preview bool
}

func newEpochObserveCmd(a *app) *cobra.Command {
	o := &observeOptions{}
	cmd := o.command(a, "observe")
	cmd.Short = "Record observations, and print what to tell the model"
	cmd.Long = long(`Reads the current observations of an agent's sources, one on each line, in the
order in which the model is told:

  {"key":"core/date","value":"2026-11-21","first":"Today is …","changed":"It is … now","removed_text":"…"}
  {"key":"core/env","unavailable":true}
  {"key":"core/skills","removed":true,"removed_text":"There are no skills any more"}

Prints what to tell the model: the initial block the first time, and later an update, in its
wrapper, of everything that has changed. If nothing has changed, the command prints and writes
nothing. It records the observations in one operation. Run it before you append the prompt that
follows.

The command compares values, not texts: a text stays as it was when its value was told. A source
that is "unavailable" keeps its last value; if it never had one, the command writes nothing and
ends with exit code 16. Only "removed" removes a key; a key that is not in the input keeps its
value. While a tool call waits for its result, the command refuses to run (12).

If the session does not exist, the command creates it. It replaces secrets that it recognizes
before it compares or stores anything.`,
		exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound, exitBlocked)
	cmd.Example =
		"  ctx epoch observe -s work < observations\n  ctx epoch observe -s work --json " +
			"observations.jsonl"
	return cmd
}

func newEpochPreviewCmd(a *app) *cobra.Command {
	o := &observeOptions{preview: true}
	cmd := o.command(a, "preview")
	cmd.Short = "Print what `ctx epoch observe` would print, and write nothing"
	cmd.Long = long(
		"Reads the same lines as `ctx epoch observe`, prints the same answer, and writes nothing.",
		exitNoStore, exitStale, exitCorrupt, exitNotFound, exitBlocked)
	cmd.Example = "  ctx epoch preview -s work --json < observations"
	return cmd
}

func (o *observeOptions) command(a *app, name string) *cobra.Command {
	cmd := &cobra.Command{
		Use:  name + " [-s SESSION] [FILE]",
		Args: between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, append(args, "-")[0]) },
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.expect, "expect", "",
		"fail unless the tip of the branch is this entry")
	return cmd
}

func (o *observeOptions) run(a *app, file string) error {
	lines, err := a.readInput(file, epoch.MaxInput)
	if err != nil {
		return fmt.Errorf("cannot read the observations: %w", err)
	}
	set, err := epoch.Read(lines)
	if err != nil {
		return err
	}
	b, err := o.open(a)
	if clusters.IsMissing(err) {
		err = withHint(usagef("no session named"), "name a session with -s; it need not exist")
	}
	if err != nil {
		return err
	}
	done, err := o.observe(a.c, b, set)
	if errors.Is(err, history.ErrBlocked) {
		return withHint(err, "nothing was written: observe again when the sources are available")
	}
	if err != nil {
		return err
	}
	a.sayCleaned("epoch", set.Found)
	if len(done.Forgotten) > 0 {
		a.say("ctx: epoch: skipped forgotten keys: %s", strings.Join(done.Forgotten, ", "))
	}
	return printObserved(a, done)
}

func (o *observeOptions) observe(
	c context.Context, b openBranch, set *epoch.Set,
) (epochs.Observed, error) {
	expect, err := b.entry(o.expect)
	if err != nil {
		return epochs.Observed{}, err
	}
	options := epochs.ObserveOptions{Expect: expect}
	if o.preview {
		return b.s.Epochs.Preview(b.view, b.name, b.branch, set, options)
	}
	return b.s.Epochs.Observe(c, b.name, b.branch, set, options)
}

func printObserved(a *app, done epochs.Observed) error {
	if a.json {
		return a.answer("result", done.Result, "entry", done.Entry, "epoch", done.Epoch, "delta",
			deltaDoc(done.Delta), "text", done.Text)
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

// deltaDoc maps each changed key to the blob of its new value, or to "removed".
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
