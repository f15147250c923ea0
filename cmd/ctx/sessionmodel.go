package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/summarizer"
)

func newSessionModelCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	cmd := &cobra.Command{
		Use:   "model [-s SESSION] [NAME]",
		Short: "Show or note the model that a branch goes on with",
		Long: long(`Notes that a branch goes on with another model; without a name, prints the model that was noted since the last prompt of the user, and
where there is none ends with exit code 1. A new prompt leaves the choice open again, and so does a rewind: both follow from where the
note is in the history. Noting the same model again does nothing.`, exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example:           "  ctx session model -s work gemini-2.5-flash\n  ctx session model -s work",
		Args:              checkedNames(0, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			name, branch, _, err := o.tip(view)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				model := summarizer.Normal(args[0])
				done, err := s.SetModel(cmd.Context(), name, branch, model)
				if err != nil || !a.json {
					return err
				}
				return printModel(a, name, branch, model, done.ID)
			}
			model, note, err := s.Model(view, name, branch)
			switch {
			case err != nil:
				return err
			case a.json:
				err = printModel(a, name, branch, model, note)
			case model != "":
				a.line("%s", oneLine(model))
			}
			if err == nil && model == "" {
				err = &exitError{exitFailed}
			}
			return err
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

func printModel(a *app, name, branch, model string, note format.ID) error {
	return a.printJSON(struct {
		V       int     `json:"v"`
		Session string  `json:"session"`
		Branch  string  `json:"branch"`
		Model   *string `json:"model"`
		Note    *string `json:"note"`
	}{1, name, branch, orNull(model), idText(note)})
}
