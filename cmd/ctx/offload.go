package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
)

type offloadOptions struct {
	branchFlags
	tool, call string
}

func newOffloadCmd(a *app) *cobra.Command {
	o := &offloadOptions{}
	cmd := o.newCmd(a, "offload [-s SESSION] [--tool NAME] [--call ID] [FILE]", o.onBranch(a,
		func(b openBranch, args []string) error { return o.run(a, b, append(args, "-")[0]) }))
	cmd.Flags().StringVar(&o.tool, "tool", "", "the tool that printed the output")
	cmd.Flags().StringVar(&o.call, "call", "", "the tool call that the output answers")
	return cmd
}

func (o *offloadOptions) run(a *app, b openBranch, file string) error {
	text, err := a.readText(file, history.MaxMessage)
	if err != nil {
		return fmt.Errorf("cannot read the output: %w", err)
	}
	if len(text) > history.MaxMessage {
		return usagef("output of more than %d bytes", history.MaxMessage)
	}
	done, found, err := b.s.Conversation.Offload(a.c, b.name, b.branch,
		conversation.Output{Tool: o.tool, Call: o.call, Text: string(text)})
	if err != nil {
		return err
	}
	a.sayCleaned("offload", found)
	if a.json {
		return a.answer("id", done.Entry, "offloaded", !done.Entry.IsZero(), "known", done.Known,
			"chars", done.Chars, "text", done.Text)
	}
	if !done.Entry.IsZero() {
		done.Text += "\n"
	}
	return a.forModel(done.Text)
}
