package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/conversation/loop"
	"github.com/gemini-ctx/ctx/internal/durable"
)

type loopOptions struct {
	branchFlags
	state, prompt       string
	clear, record, stop bool
}

func newLoopCheckCmd(a *app) *cobra.Command {
	o := &loopOptions{}
	cmd := o.newCmd(a, "check [FILE]", func(args []string) error {
		return o.run(a, append(args, "-")[0])
	})
	f := cmd.Flags()
	f.StringVar(&o.state, "state", "", "keep the state between checks in `FILE`")
	f.StringVar(&o.prompt, "prompt", "", "the current prompt; a different `ID` starts again")
	f.BoolVar(&o.clear, "clear", false, "first clear the detected loop; the count stays")
	f.BoolVar(&o.record, "record", false, "append a note about a new loop to the branch")
	f.BoolVar(&o.stop, "stop", false, "answer as soon as a loop is detected")
	return cmd
}

func (o *loopOptions) run(a *app, file string) error {
	d, b, err := o.load(a)
	if err != nil {
		return err
	}
	if o.cmd.Flags().Changed("prompt") {
		d.Prompt(o.prompt)
	}
	if o.clear {
		d.Clear()
	}
	in, closeInput, err := a.inputText(file)
	if err != nil {
		return err
	}
	defer closeInput()
	r := &jsonl.Deltas{Detector: d, Stop: o.stop, Had: d.Verdict().Count,
		Unknown: map[string]int{}}
	if err := r.Read(a.c, in); err != nil {
		return err
	}
	if len(r.Unknown) > 0 {
		a.say("ctx: loop check: unknown keys: %s", counts(r.Unknown))
	}
	recorded, err := o.note(a.c, b, r)
	if err != nil {
		return err
	}
	if err := o.save(a, b, d); err != nil {
		return err
	}
	return answerLoop(a, r, recorded)
}

// load returns the detector with its saved state, and the branch if there is one.
func (o *loopOptions) load(a *app) (*loop.Detector, *openBranch, error) {
	flags := o.cmd.Flags()
	switch {
	case flags.Changed("state") && (o.state == "" || o.state == "-"):
		return nil, nil, usagef("--state is the name of a file, not %q", o.state)
	case flags.Changed("prompt") && o.prompt == "":
		return nil, nil, usagef("--prompt is empty")
	}
	d, err := o.readState(a)
	if err != nil || !flags.Changed("session") && !flags.Changed("branch") && !o.record {
		return d, nil, err
	}
	b, err := o.openTip(a)
	if err != nil {
		return nil, nil, err
	}
	if o.state == "" {
		d, err = b.s.Conversation.Loop(b.view, b.name, b.branch)
	} else {
		err = b.s.Conversation.FitLoop(b.view, b.name, b.branch, d)
	}
	return d, &b, err
}

// readState reads the file of --state. A missing file is an empty state.
func (o *loopOptions) readState(a *app) (*loop.Detector, error) {
	if o.state == "" {
		return &loop.Detector{}, nil
	}
	b, err := durable.ReadAtMost(a.path(o.state), loop.MaxState)
	if errors.Is(err, fs.ErrNotExist) {
		return &loop.Detector{}, nil
	}
	var d *loop.Detector
	if err == nil {
		d, err = loop.Decode(b)
	}
	if errors.Is(err, loop.ErrState) || errors.Is(err, durable.ErrTooLarge) {
		err = withHint(usagef("cannot use %q: %v", o.state, err), "remove the file to start again")
	}
	return d, err
}

// save writes the state of the detector for the next check.
func (o *loopOptions) save(a *app, b *openBranch, d *loop.Detector) error {
	if o.state == "" {
		if b == nil {
			return nil
		}
		if err := b.s.Conversation.SaveLoop(b.name, b.branch, d); err != nil {
			// A store that cannot be written to
			a.warn(fmt.Sprintf("the next check starts again: %v", err))
		}
		return nil
	}
	text, err := d.Encode()
	if err != nil {
		return err
	}
	if err := a.fs.WriteFile(a.path(o.state), append(text, '\n'), 0o600, false); err != nil {
		return fmt.Errorf("cannot keep the state: %w", err)
	}
	return nil
}

// note appends a note about a loop that was detected in this stream.
func (o *loopOptions) note(
	c context.Context, b *openBranch, r *jsonl.Deltas,
) (id format.ID, err error) {
	if !o.record || !r.IsNew() {
		return id, nil
	}
	m, err := b.s.Conversation.LoopNotice(r.Detector.Verdict())
	if err != nil {
		return id, err
	}
	done, _, err := b.s.Conversation.Append(c, b.name, b.branch, []conversation.Message{m},
		conversation.AppendOptions{})
	if err != nil {
		return id, err
	}
	return done[0].ID, nil
}

func answerLoop(a *app, r *jsonl.Deltas, recorded format.ID) error {
	v := r.Detector.Verdict()
	switch {
	case a.json:
		a.document("detected", v.Detected, "rule", document.OrNull(v.Rule), "period", v.Period,
			"count", v.Count, "new", r.IsNew(),
			"deltas", r.Deltas, "calls", r.Calls, "ignored", r.Ignored, "recorded", recorded)
	case !v.Detected:
		a.line("no loop")
	case v.Rule == loop.RuleCalls:
		a.line("loop: %s: a cycle of %s", v.Rule, plural(v.Period, "call", "calls"))
	default:
		a.line("loop: %s: the same every %s", v.Rule, plural(v.Period, "character", "characters"))
	}
	return exitIf(v.Detected, exitFailed)
}
