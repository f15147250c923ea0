package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/loop"
)

func newLoopCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "loop check",
		Short:   "Notice when a model goes round in circles",
		Long:    long("Looks at what a model says and which tools it calls, as it does, for the same again and again."),
		Example: "  ctx loop check < deltas.jsonl",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	cmd.AddCommand(newLoopCheckCmd(a))
	return cmd
}

type loopOptions struct {
	branchFlags
	state, prompt       string
	clear, record, stop bool
}

func newLoopCheckCmd(a *app) *cobra.Command {
	o := &loopOptions{}
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Look for a loop in a stream of deltas",
		Long: long(`Reads from a file or standard input, a line each, the deltas of what a model says and its tool calls:

  {"text":"…","partial":true}
  {"call":{"id":"…","name":"…","args":{…}}}

A text without "partial":true is the whole of what came in deltas before, and is passed over; so is a call whose id was there before.
The answer is a loop, exit code 1, when a cycle of 1 to 5 calls has come 5 times in a row, or the same 50 characters have come 10
times close together, outside code blocks, lists, tables, headings, quotes and dividers. What is detected stays so.

Without more only this stream is looked at. With -s it goes on from where the last check of the branch was, and begins anew after a
prompt of the user, a rewind, or an undo of what was the tip; with --state FILE it goes on from that file, which is written at the
end, and with -s begins anew as often. Another --prompt than before begins anew, too.

With --record a loop that is detected in this stream is noted on the branch, as something said about the conversation: what was
said in it stays as it is.`, exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: `  ctx loop check < deltas.jsonl
  agent-deltas | ctx loop check -s work --stop --record --json
  ctx loop check --state loop.json --prompt p-17 --clear < deltas.jsonl`,
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, append(args, "-")[0])
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	f := cmd.Flags()
	f.StringVar(&o.state, "state", "", "a `FILE` that keeps what was seen from one check to the next")
	f.StringVar(&o.prompt, "prompt", "", "the `ID` of the prompt that the model works on: another one than before begins anew")
	f.BoolVar(&o.clear, "clear", false, "first take back what was detected before; the count goes on")
	f.BoolVar(&o.record, "record", false, "note a new loop on the branch, after the stream")
	f.BoolVar(&o.stop, "stop", false, "answer when a loop is detected, not at the end of the input")
	return cmd
}

type loopDoc struct {
	V        int     `json:"v"`
	Detected bool    `json:"detected"`
	Rule     *string `json:"rule"`
	Period   int     `json:"period"`  // calls of a cycle, or characters from one time to the next; 0 for none
	Count    int     `json:"count"`   // how often something was detected since the prompt
	New      bool    `json:"new"`     // it was detected in this stream
	Deltas   int     `json:"deltas"`  // that were looked at
	Calls    int     `json:"calls"`   // that were looked at
	Ignored  int     `json:"ignored"` // whole texts
	Recorded *string `json:"recorded"`
}

// loopBranch is the branch that a check is about.
type loopBranch struct {
	store        *session.Store
	view         *refs.View
	name, branch string
}

func (o *loopOptions) run(c context.Context, a *app, file string) error {
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
	in, closeInput, err := a.input(file)
	if err != nil {
		return err
	}
	defer closeInput()
	r := &loopReader{d: d, stop: o.stop, had: d.Verdict().Count, unknown: map[string]int{}}
	if err := r.read(c, in); err != nil {
		return err
	}
	if len(r.unknown) > 0 {
		a.say("ctx: loop check: keys that are not used: %s", counts(r.unknown))
	}
	recorded, err := o.note(c, b, r)
	if err != nil {
		return err
	}
	if err := o.save(a, b, d); err != nil {
		return err
	}
	return r.answer(a, recorded)
}

// load returns what is known from before, and the branch if there is one.
func (o *loopOptions) load(a *app) (*loop.Detector, *loopBranch, error) {
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
	b := &loopBranch{}
	if b.store, b.view, err = a.openView(); err != nil {
		return nil, nil, err
	}
	if b.name, b.branch, _, err = o.tip(b.view); err != nil {
		return nil, nil, err
	}
	if o.state == "" {
		d, err = b.store.Loop(b.view, b.name, b.branch)
	} else {
		err = b.store.FitLoop(b.view, b.name, b.branch, d)
	}
	return d, b, err
}

// readState reads the file of --state; one that is not there yet knows nothing.
func (o *loopOptions) readState(a *app) (*loop.Detector, error) {
	if o.state == "" {
		return &loop.Detector{}, nil
	}
	b, err := lock.ReadAtMost(a.path(o.state), loop.MaxState)
	if errors.Is(err, fs.ErrNotExist) {
		return &loop.Detector{}, nil
	}
	var d *loop.Detector
	if err == nil {
		d, err = loop.Decode(b)
	}
	if errors.Is(err, loop.ErrState) || errors.Is(err, lock.ErrTooLarge) {
		err = withHint(usagef("cannot use %q: %v", o.state, err), "without the file the next check begins anew")
	}
	return d, err
}

// save keeps what is known for the next check, where it is kept.
func (o *loopOptions) save(a *app, b *loopBranch, d *loop.Detector) error {
	if o.state == "" {
		if b == nil {
			return nil
		}
		if err := b.store.SaveLoop(b.name, b.branch, d); err != nil {
			a.warn(fmt.Sprintf("the next check begins anew: %v", err)) // a store that cannot be written to
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

// note records what was detected in this stream.
func (o *loopOptions) note(c context.Context, b *loopBranch, r *loopReader) (id format.ID, err error) {
	if !o.record || !r.isNew() {
		return id, nil
	}
	m, err := b.store.LoopNotice(r.d.Verdict())
	if err != nil {
		return id, err
	}
	done, _, err := b.store.Append(c, b.name, b.branch, []session.Message{m}, session.AppendOptions{})
	if err != nil {
		return id, err
	}
	return done[0].ID, nil
}

// loopReader feeds a stream to a detector.
type loopReader struct {
	d       *loop.Detector
	stop    bool
	had     int            // loops that were detected before
	unknown map[string]int // keys that mean nothing here: in how many lines

	deltas, calls, ignored int
}

// isNew reports whether a loop was detected in this stream.
func (r *loopReader) isNew() bool { return r.d.Verdict().Count > r.had }

// read takes lines until the input ends, or with stop until a loop is detected.
func (r *loopReader) read(c context.Context, in io.Reader) error {
	lines := newLineReader(in)
	for number := 1; ; number++ {
		if r.stop && r.d.Verdict().Detected {
			return nil
		}
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLongLine):
		case err != nil:
			return fmt.Errorf("cannot read the deltas: %w", err)
		default:
			err = r.take(line)
		}
		if err != nil {
			return usagef("line %d: %v", number, err)
		}
		if err := c.Err(); err != nil {
			return err
		}
	}
}

func (r *loopReader) answer(a *app, recorded format.ID) error {
	v := r.d.Verdict()
	switch {
	case a.json:
		d := loopDoc{
			V: 1, Detected: v.Detected, Rule: orNull(v.Rule), Period: v.Period, Count: v.Count, New: r.isNew(),
			Deltas: r.deltas, Calls: r.calls, Ignored: r.ignored, Recorded: idText(recorded),
		}
		if err := a.printJSON(d); err != nil {
			return err
		}
	case !v.Detected:
		a.line("no loop")
	case v.Rule == loop.RuleCalls:
		a.line("loop: %s: a cycle of %s", v.Rule, plural(v.Period, "call", "calls"))
	default:
		a.line("loop: %s: the same every %s", v.Rule, plural(v.Period, "character", "characters"))
	}
	if v.Detected {
		return &exitError{exitFailed}
	}
	return nil
}
