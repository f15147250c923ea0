package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// branchFlags are the flags that name a branch of a session.
type branchFlags struct {
	cmd             *cobra.Command
	session, branch string
	// The session's name has to be whole: one that does not exist means something else
	whole bool
	// The session was an argument, and has to exist
	argument bool
}

// newCmd returns a command with the flags, see app.newCmd. A session in its usage line may also
// be an argument.
func (f *branchFlags) newCmd(a *app, use string, run runE) *cobra.Command {
	cmd := a.newCmd(use, run)
	cmd.Args = argsOf(strings.Replace(use, " [SESSION]", "", 1))
	f.add(a, cmd)
	return cmd
}

func (f *branchFlags) add(a *app, cmd *cobra.Command) {
	f.cmd = cmd
	cmd.Flags().StringVarP(&f.session, "session", "s", "", "the session (default: that of HEAD)")
	cmd.Flags().StringVarP(&f.branch, "branch", "b", history.MainBranch, "the branch")
	a.completeFlag(cmd, "session", a.completeSessions())
	a.completeFlag(cmd, "branch", a.completeFrom(
		func(s *session.Store, view *refs.View) []string {
			name, _ := s.Recall.NamedOr(view, f.session)
			return history.BranchesIn(view, name)
		}))
	f.takeSession(a, cmd)
}

// takeSession lets a command that takes no argument take the session, or words of its title, in
// place of -s. It has to exist: a misspelled word is no new session.
func (f *branchFlags) takeSession(a *app, cmd *cobra.Command) {
	without := cmd.Args
	if without == nil || without(cmd, []string{""}) == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := without(cmd, args)
		if err != nil && without(cmd, nil) == nil && !cmd.Flags().Changed("session") {
			f.argument = true
			return cmd.Flags().Set("session", strings.Join(args, " "))
		}
		return err
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = a.completeSessions()
	}
}

// check refuses invalid names.
func (f *branchFlags) check() error {
	if f.cmd.Flags().Changed("session") && (f.session == "" || f.whole) {
		if err := checkName("session", f.session); err != nil {
			return err
		}
	}
	return checkName("branch", f.branch)
}

// pick returns the session and the branch. Both names are valid, but neither need exist.
func (f *branchFlags) pick(s *session.Store, view *refs.View) (name, branch string, err error) {
	if err := f.check(); err != nil {
		return "", "", err
	}
	if f.argument {
		name, err = s.Recall.Named(view, f.session)
		return name, f.branch, err
	}
	if f.whole && f.session != "" {
		return f.session, f.branch, nil
	}
	name, err = sessionOr(s, view, f.session)
	return name, f.branch, err
}

// tip is pick for a branch that must exist. It also returns the value of the branch.
func (f *branchFlags) tip(
	s *session.Store, view *refs.View,
) (name, branch string, tip format.Value, err error) {
	name, branch, err = f.pick(s, view)
	if err == nil {
		tip, err = history.Tip(view, name, branch)
	}
	return name, branch, tip, err
}

// open opens the store and picks the branch.
func (f *branchFlags) open(a *app) (b openBranch, err error) {
	if b.s, b.view, err = a.openView(); err == nil {
		b.name, b.branch, err = f.pick(b.s, b.view)
	}
	return b, err
}

// openTip is open for a branch that must exist.
func (f *branchFlags) openTip(a *app) (b openBranch, err error) {
	if b, err = f.open(a); err == nil {
		b.tip, err = history.Tip(b.view, b.name, b.branch)
	}
	return b, err
}

// onBranch returns the work of a command that begins by opening the store and picking the branch.
func (f *branchFlags) onBranch(a *app, work func(b openBranch, args []string) error) runE {
	return func(args []string) error {
		b, err := f.open(a)
		if err != nil {
			return err
		}
		return work(b, args)
	}
}

// onTip is onBranch for a branch that must exist.
func (f *branchFlags) onTip(a *app, work func(b openBranch, args []string) error) runE {
	return func(args []string) error {
		b, err := f.openTip(a)
		if err != nil {
			return err
		}
		return work(b, args)
	}
}

// openBranch is a branch that a command works on, in its store.
type openBranch struct {
	s            *session.Store
	view         *refs.View
	name, branch string
	tip          format.Value // zero if the branch need not exist
}

// entry returns the entry that rev names in the branch, and the zero id for "".
func (b *openBranch) entry(rev string) (format.ID, error) {
	if rev == "" {
		return format.ID{}, nil
	}
	return resolveEntry(b.s, b.view, clusters.InBranch(rev, b.name, b.branch))
}

func checkName(what, name string) error { return command.CheckName(what, name) }

// ofSession is the flag -s for commands that take no branch, or branches as arguments.
type ofSession struct {
	cmd     *cobra.Command
	session string
	whole   bool // the name of a session that need not exist
	past    bool // a name of the past means that session, and no other one
}

// newCmd returns a command with the flag, see app.newCmd.
func (o *ofSession) newCmd(a *app, use string, run runE) *cobra.Command {
	cmd := a.newCmd(use, run)
	o.addWith(a, cmd, "the session (default: that of HEAD)")
	return cmd
}

// addWith adds the flag, with a help text.
func (o *ofSession) addWith(a *app, cmd *cobra.Command, usage string) {
	o.cmd = cmd
	cmd.Flags().StringVarP(&o.session, "session", "s", "", usage)
	a.completeFlag(cmd, "session", a.completeSessions())
}

// check refuses an invalid name.
func (o *ofSession) check() error {
	if o.cmd.Flags().Changed("session") && (o.whole || o.session == "") {
		return checkName("session", o.session)
	}
	return nil
}

// open opens the store and returns the name of the session.
func (o *ofSession) open(a *app) (*session.Store, *refs.View, string, error) {
	if err := o.check(); err != nil {
		return nil, nil, "", err
	}
	s, view, err := a.openView()
	if err != nil {
		return nil, nil, "", err
	}
	name, err := sessionOr(s, view, o.session)
	gone := len(history.BranchesIn(view, name)) == 0
	if o.past && (name == "" || o.session != "" && (gone || name != o.session)) {
		past, failed := s.Recall.Past(view, o.session)
		switch {
		case failed != nil:
			return nil, nil, "", failed
		case past != "" && (past == o.session || gone && err == nil || o.session == ""):
			name, err = past, nil
		}
	}
	return s, view, name, err
}

// openAt opens the store for work on a branch of the session. others are names of more branches.
func (o *ofSession) openAt(a *app, branch string, others ...string) (b openBranch, err error) {
	if err := o.check(); err != nil {
		return b, err
	}
	for _, name := range append([]string{branch}, others...) {
		if err := checkName("branch", name); err != nil {
			return b, err
		}
	}
	b.branch = branch
	b.s, b.view, b.name, err = o.open(a)
	return b, err
}
