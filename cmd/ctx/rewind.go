package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
)

type rewindOptions struct {
	branchFlags
	expect string
}

func newRewindCmd(a *app) *cobra.Command {
	o := &rewindOptions{}
	cmd := o.newCmd(a, "rewind [-s SESSION] REV",
		func(args []string) error { return o.run(a, args[0]) })
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail unless this entry is the tip")
	return cmd
}

func (o *rewindOptions) run(a *app, rev string) error {
	b, err := o.openTip(a)
	if err != nil {
		return err
	}
	target, err := b.s.Conversation.RewindTarget(b.view, b.name, b.branch, rev)
	if err != nil {
		return err
	}
	expect, err := b.entry(o.expect)
	if err != nil {
		return err
	}
	done, err := b.s.Conversation.Rewind(a.c, b.name, b.branch, target,
		conversation.RewindOptions{Expect: expect})
	if past, head := strings.CutPrefix(rev, "HEAD"); head && errors.Is(err, history.NoID) {
		return withHint(err, "HEAD is another branch: @%s is of the one that -s and -b name", past)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.answer("id", done.Entry, "left", done.Left, "messages", done.Messages, "retracted",
			done.Retracted)
	}
	a.line("%v", done.Entry)
	a.say("ctx: rewind: %s left the branch", plural(done.Messages, "message", "messages"))
	return nil
}
