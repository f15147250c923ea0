package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

func newSessionModelCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	cmd := namesOnly(o.newCmd(a, "model [-s SESSION] [NAME]", o.onTip(a, func(
		b openBranch, args []string,
	) error {
		if len(args) > 0 {
			model := summarizer.Normal(args[0])
			done, err := b.s.Conversation.SetModel(a.c, b.name, b.branch, model)
			if err != nil || !a.json {
				return err
			}
			return a.answer("session", b.name, "branch", b.branch, "model", model,
				"note", done.ID)
		}
		model, note, err := b.s.Conversation.Model(b.view, b.name, b.branch)
		switch {
		case err != nil:
			return err
		case a.json:
			err = a.answer("session", b.name, "branch", b.branch, "model",
				document.OrNull(model), "note", note)
		case model != "":
			a.line("%s", oneLine(model))
		}
		if err == nil && model == "" {
			err = &exitError{exitFailed}
		}
		return err
	})))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	return cmd
}
