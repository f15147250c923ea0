package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

// branchFlags say which branch of which session a command is about.
type branchFlags struct {
	cmd             *cobra.Command
	session, branch string
	whole           bool // the session's name has to be whole: one that does not exist means something else
}

func (f *branchFlags) add(cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVarP(&f.session, "session", "s", "", "the session (default: the one that HEAD names)")
	cmd.Flags().StringVarP(&f.branch, "branch", "b", session.MainBranch, "the branch of the session")
}

// check refuses names that no session and no branch can have.
func (f *branchFlags) check() error {
	if f.cmd.Flags().Changed("session") {
		if err := checkName("session", f.session); err != nil {
			return err
		}
	}
	return checkName("branch", f.branch)
}

// pick returns the session and the branch; both have good names, but need not exist.
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

// tip is pick for a branch that must exist.
func (f *branchFlags) tip(view *refs.View) (name, branch string, tip format.Value, err error) {
	name, branch, err = f.pick(view)
	if err == nil {
		tip, err = session.Tip(view, name, branch)
	}
	return name, branch, tip, err
}

func checkName(what, name string) error {
	if err := format.CheckName(name); err != nil {
		return withHint(usagef("bad %s name: %.80q: %v", what, name, err),
			"a name has up to %d bytes and no slash, no control characters, no space at its ends", format.MaxName)
	}
	return nil
}

func inBranch(rev, name, branch string) string { return session.InBranch(rev, name, branch) }
