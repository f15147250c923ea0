package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/lists"
)

func newReplaceListCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	return o.newCmd(a, "list [-s SESSION]", func([]string) error {
		b, err := o.openTip(a)
		if err != nil {
			return err
		}
		list, err := b.s.Edits.Answers(b.view, b.name, b.branch)
		if err != nil {
			return err
		}
		for _, l := range list {
			if err := printListedAnswer(a, &b, &l); err != nil {
				return err
			}
		}
		return nil
	})
}

func printListedAnswer(a *app, b *openBranch, l *edits.ListedAnswer) error {
	if a.json {
		targets := lists.Map(l.Targets, format.Target.String)
		return a.answer("id", l.ID, "state", l.State, "why", document.OrNull(l.Why), "time",
			document.TimeText(l.Time), "summarizer", document.OrNull(l.Summarizer), "session",
			b.name, "branch", b.branch, "claim", document.OrNull(l.Claim), "texts", l.Texts,
			"stands_for", targets)
	}
	a.line("%s  %-8s  %s, %s, %s", short(b.s, l.ID), l.State,
		plural(len(l.Targets), "message", "messages"), l.Summarizer, document.TimeText(l.Time))
	if l.Why != "" {
		a.line("  %s", l.Why)
	}
	for _, text := range l.Texts {
		a.line("  > %s", firstLine(text))
	}
	return nil
}
