package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session"
)

type offloadOptions struct {
	branchFlags
	tool, call string
}

func newOffloadCmd(a *app) *cobra.Command {
	o := &offloadOptions{}
	cmd := &cobra.Command{
		Use:   "offload [-s SESSION] [--tool NAME] [--call ID] [FILE]",
		Short: "Keep one long output of a tool, and print a short form of it",
		Long: long(`Reads what a tool printed, from a file or standard input, before it becomes a message. One of more than offload.threshold_chars
characters (40,000) is kept whole on the branch, as a note, and a short form is printed: its first 20 % and last 80 % (offload.head_percent), with
the id by which `+"`ctx expand`"+` gives all of it, also when the agent's own files are gone. A shorter one is printed as it is, and nothing is
stored.

The same output of the same --call is kept once. What looks like a secret is replaced by [REDACTED:<class>] and control characters are taken
out before anything is stored.`, exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: "  go test ./... 2>&1 | ctx offload -s work --tool run_shell_command --call call_7\n  ctx offload -s work --json log.txt",
		Args:    between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), a, append(args, "-")[0])
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.Flags().StringVar(&o.tool, "tool", "", "the tool that printed it")
	cmd.Flags().StringVar(&o.call, "call", "", "the call that it answers")
	return cmd
}

type offloadDoc struct {
	V         int     `json:"v"`
	ID        *string `json:"id"` // of the note; null where it is short enough
	Offloaded bool    `json:"offloaded"`
	Known     bool    `json:"known"`
	Chars     int     `json:"chars"` // UTF-16 units, as agents count
	Text      string  `json:"text"`  // what a message is to have
}

func (o *offloadOptions) run(c context.Context, a *app, file string) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	name, branch, err := o.pick(view)
	if err != nil {
		return err
	}
	text, err := a.readInput(file, session.MaxMessage)
	if err != nil {
		return fmt.Errorf("cannot read the output: %w", err)
	}
	if len(text) > session.MaxMessage {
		return usagef("output of more than %d bytes", session.MaxMessage)
	}
	done, found, err := s.Offload(c, name, branch, session.Output{Tool: o.tool, Call: o.call, Text: string(text)})
	if err != nil {
		return err
	}
	if len(found) > 0 {
		a.say("ctx: offload: cleaned: %s", counts(byClass(found)))
	}
	if a.json {
		return a.printJSON(offloadDoc{1, idText(done.Entry), !done.Entry.IsZero(), done.Known, done.Chars, done.Text})
	}
	a.printf("%s", done.Text)
	if !done.Entry.IsZero() {
		a.printf("\n")
	}
	return nil
}
