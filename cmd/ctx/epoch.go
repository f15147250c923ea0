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

type observeOptions struct {
	branchFlags
	expect  string
	preview bool
}

func newEpochObserveCmd(a *app) *cobra.Command {
	return (&observeOptions{}).command(a, "observe [-s SESSION] [FILE]")
}

func newEpochPreviewCmd(a *app) *cobra.Command {
	return (&observeOptions{preview: true}).command(a, "preview [-s SESSION] [FILE]")
}

func (o *observeOptions) command(a *app, use string) *cobra.Command {
	cmd := o.newCmd(a, use, func(args []string) error { return o.run(a, append(args, "-")[0]) })
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail unless this entry is the tip")
	return cmd
}

func (o *observeOptions) run(a *app, file string) error {
	lines, err := a.readText(file, epoch.MaxInput)
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
