package main

import (
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/refs"
)

// branchFlags are the flags that name a branch of a session.
type branchFlags struct {
	cmd             *cobra.Command
	session, branch string
	whole           bool // the session's name has to be whole: one that does not exist means something else
}

func (f *branchFlags) add(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVarP(&f.session, "session", "s", "", "the session (default: the one that HEAD names)")
	cmd.Flags().StringVarP(&f.branch, "branch", "b", history.MainBranch, "the branch of the session")
}

// check refuses invalid names.
func (f *branchFlags) check() error {
	if f.cmd.Flags().Changed("session") {
		if err := checkName("session", f.session); err != nil {
			return err
		}
	}
	return checkName("branch", f.branch)
}

// pick returns the session and the branch. Both names are valid, but neither need exist.
func (f *branchFlags) pick(view *refs.View) (name, branch string, err error) {
	if err := f.check(); err != nil {
		return "", "", err
	}
	if f.whole && f.session != "" {
		return f.session, f.branch, nil
	}
	name, err = sessionOr(view, f.session)
	return name, f.branch, err
}

// tip is pick for a branch that must exist. It also returns the value of the branch.
func (f *branchFlags) tip(view *refs.View) (name, branch string, tip format.Value, err error) {
	name, branch, err = f.pick(view)
	if err == nil {
		tip, err = history.Tip(view, name, branch)
	}
	return name, branch, tip, err
}

func checkName(what, name string) error { return command.CheckName(what, name) }

func inBranch(rev, name, branch string) string { return clusters.InBranch(rev, name, branch) }
