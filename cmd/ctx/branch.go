package main

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/dag"
)

func newBranchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "branch fork|join|list|visible|tokens",
		Short: "Fork and join branches of a session, and ask what each may see",
		Long: long(`A session has a branch, main, and may have more. Agents that work in parallel each get a branch by a fork: they see what the
parent had said by then and nothing of each other, until a join brings what they said to the parent.`),
		Example: "  ctx branch fork -s work main tests docs\n  ctx branch join -s work main tests docs",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	cmd.AddCommand(newBranchForkCmd(a), newBranchJoinCmd(a), newBranchListCmd(a), newBranchVisibleCmd(a), newBranchTokensCmd(a))
	return cmd
}

// ofSession is a session that may be left to HEAD, for commands that take their branches as arguments.
type ofSession struct{ session string }

func (o *ofSession) add(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.session, "session", "s", "", "the session (default: the one that HEAD names)")
	completeFlag(cmd, "session", a.completeSessions())
}

func (o *ofSession) check(cmd *cobra.Command, branches ...string) error {
	if cmd.Flags().Changed("session") {
		if err := checkName("session", o.session); err != nil {
			return err
		}
	}
	for _, b := range branches {
		if err := checkName("branch", b); err != nil {
			return err
		}
	}
	return nil
}

// open opens the store, and names the session.
func (o *ofSession) open(a *app) (*session.Store, *refs.View, string, error) {
	s, view, err := a.openView()
	if err != nil {
		return nil, nil, "", err
	}
	name, err := sessionOr(view, o.session)
	return s, view, name, err
}

type forkOptions struct {
	ofSession
	at, expect, invocation string
}

func newBranchForkCmd(a *app) *cobra.Command {
	o := &forkOptions{}
	cmd := &cobra.Command{
		Use:   "fork [-s SESSION] PARENT CHILD...",
		Short: "Start branches from the tip of a branch",
		Long: long(`Starts each CHILD at the tip of PARENT, all at once, and prints the fork. A child has what PARENT has said so far; what it says
itself is its own until `+"`ctx branch join`"+` brings it to PARENT, and graduates only then, so that it reaches nobody through a summary. In an open fork, messages that name no
invocation belong to the one of the fork.

With --at the children are lines of their own: they begin with REV, an earlier entry of PARENT, as their last, and are no children to join. What the
model was last told goes with them as PARENT has it now.`, exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example: "  ctx branch fork -s work main tests docs\n  ctx branch fork -s work main again --at work~4",
		Args:    between(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args...); err != nil {
				return err
			}
			return o.run(cmd.Context(), a, args[0], args[1:])
		},
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.at, "at", "", "start lines of their own, whose last entry is `REV`")
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail if the tip of PARENT is not this entry")
	cmd.Flags().StringVar(&o.invocation, "invocation", "", "the run of the agent that forks (default: the one of the parent's tip)")
	return cmd
}

func (o *forkOptions) run(c context.Context, a *app, parent string, children []string) error {
	s, view, name, err := o.open(a)
	if err != nil {
		return err
	}
	options := session.ForkOptions{Invocation: o.invocation}
	if o.invocation != "" {
		if err := format.CheckName(o.invocation); err != nil {
			return usagef("bad --invocation: %.80q: %v", o.invocation, err)
		}
	}
	for _, r := range []struct {
		rev string
		id  *format.ID
	}{{o.at, &options.At}, {o.expect, &options.Expect}} {
		if r.rev == "" {
			continue
		}
		if *r.id, err = resolveEntry(s, view, inBranch(r.rev, name, parent)); err != nil {
			return err
		}
	}
	done, err := s.Fork(c, name, parent, children, options)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			V        int      `json:"v"`
			ID       string   `json:"id"`
			Session  string   `json:"session"`
			Parent   string   `json:"parent"`
			Children []string `json:"children"`
			Line     bool     `json:"line"`
		}{1, done.Entry.String(), name, parent, children, done.Line})
	}
	a.line("%v", done.Entry)
	return nil
}

type joinOptions struct {
	ofSession
	expect string
}

func newBranchJoinCmd(a *app) *cobra.Command {
	o := &joinOptions{}
	cmd := &cobra.Command{
		Use:   "join [-s SESSION] PARENT CHILD...",
		Short: "Bring to a branch what its children said, and end them",
		Long: long(`Brings what each CHILD has said, up to its latest entry, to PARENT, in the order in which they are named, and prints the join. The
names of the children are free again. A child that failed is joined like any other, with as much as it said; one that is not named stays open, and what it said is hidden from
PARENT within this invocation.`, exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example: "  ctx branch join -s work main tests docs",
		Args:    between(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args...); err != nil {
				return err
			}
			return o.run(cmd.Context(), a, args[0], args[1:])
		},
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail if the tip of PARENT is not this entry")
	return cmd
}

func (o *joinOptions) run(c context.Context, a *app, parent string, children []string) error {
	s, view, name, err := o.open(a)
	if err != nil {
		return err
	}
	var options session.JoinOptions
	if o.expect != "" {
		if options.Expect, err = resolveEntry(s, view, inBranch(o.expect, name, parent)); err != nil {
			return err
		}
	}
	done, err := s.Join(c, name, parent, children, options)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			V        int      `json:"v"`
			ID       string   `json:"id"`
			Session  string   `json:"session"`
			Parent   string   `json:"parent"`
			Children []string `json:"children"`
			Messages int      `json:"messages"`
			Open     []string `json:"open"`
		}{1, done.Entry.String(), name, parent, children, done.Messages, append([]string{}, done.Open...)})
	}
	a.line("%v", done.Entry)
	return nil
}

func newBranchListCmd(a *app) *cobra.Command {
	o := &ofSession{}
	cmd := &cobra.Command{
		Use:   "list [-s SESSION]",
		Short: "List the branches of a session",
		Long: long(`Lists the branches by name, with how many messages each has. A child of a fork that nobody has joined is open; main and lines from
the past are not children.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx branch list -s work --json",
		Args:    between(0, 0),
	}
	o.add(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.check(cmd); err != nil {
			return err
		}
		s, view, name, err := o.open(a)
		if err != nil {
			return err
		}
		list, err := s.Branches(view, name)
		if err != nil {
			return err
		}
		var rows [][]string
		for _, b := range list {
			state := "line"
			if !b.Fork.IsZero() {
				state = "open"
			}
			if a.json {
				err := a.printJSON(struct {
					V          int     `json:"v"`
					Session    string  `json:"session"`
					Branch     string  `json:"branch"`
					State      string  `json:"state"`
					Parent     *string `json:"parent"`
					Fork       *string `json:"fork"`
					Tip        string  `json:"tip"`
					Seq        uint64  `json:"seq"`
					Invocation *string `json:"invocation"`
				}{1, name, b.Name, state, orNull(b.Parent), idText(b.Fork), b.Value.ID.String(), b.Seq, orNull(b.Invocation)})
				if err != nil {
					return err
				}
				continue
			}
			rows = append(rows, []string{b.Name, state, strconv.FormatUint(b.Seq, 10), b.Value.ID.Short(12), b.Parent})
		}
		a.table(rows)
		return nil
	}
	return cmd
}

type visibleOptions struct {
	ofSession
	reader string
	all    bool
}

func newBranchVisibleCmd(a *app) *cobra.Command {
	o := &visibleOptions{}
	cmd := &cobra.Command{
		Use:   "visible [-s SESSION] --reader BRANCH",
		Short: "Show what a reader in a branch may see",
		Long: long(`Shows every message and note of the session that a reader in BRANCH may see, in the order in which they came. Within an invocation
that is what the branch stands on: what was said on it, before its fork, and on the children joined to it. What was said in other invocations is visible as soon
as it is there. BRANCH may be a branch that was joined, as it was then, or a revision: the reader knows nothing of what came after.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx branch visible -s work --reader tests --json | jq -r .id",
		Args:    between(0, 0),
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.reader, "reader", session.MainBranch, "the branch, or the revision, that reads")
	cmd.Flags().BoolVar(&o.all, "all", false, "every kind of entry")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.check(cmd); err != nil {
			return err
		}
		s, view, name, err := o.open(a)
		if err != nil {
			return err
		}
		r, err := s.NewReader(view, name, o.reader)
		if err != nil {
			return err
		}
		return s.Each(r, o.all, func(shown *session.Shown) error {
			return errors.Join(cmd.Context().Err(), a.printEntry(shown))
		})
	}
	return cmd
}

func newBranchTokensCmd(a *app) *cobra.Command {
	o := &ofSession{}
	cmd := &cobra.Command{
		Use:   "tokens [-s SESSION] [BRANCH|REV]...",
		Short: "Show token sets, as some agents name what a branch may see",
		Long: long(`Shows the token set of each branch, or of those named, or of an entry: a number for every child of a fork that it has come
through, in the invocation it belongs to. A reader sees what has a part of its set. The sets are derived from the forks and joins; nothing is decided by them.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx branch tokens -s work",
	}
	o.add(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd); err != nil {
			return err
		}
		return o.tokens(a, args)
	}
	return cmd
}

type tokensDoc struct {
	V      int      `json:"v"`
	Branch string   `json:"branch,omitempty"`
	ID     string   `json:"id,omitempty"`
	Tokens []uint64 `json:"tokens"`
}

func (o *ofSession) tokens(a *app, args []string) error {
	s, view, name, err := o.open(a)
	if err != nil {
		return err
	}
	list, err := s.Tokens(view, name)
	if err != nil {
		return err
	}
	show := func(what string, set dag.Tokens, d tokensDoc) error {
		if a.json {
			d.V, d.Tokens = 1, append([]uint64{}, set...)
			return a.printJSON(d)
		}
		a.line("%s\t%v", what, set)
		return nil
	}
	if len(args) == 0 {
		for _, b := range list {
			if err := show(b.Branch, b.Tokens, tokensDoc{Branch: b.Branch}); err != nil {
				return err
			}
		}
		return nil
	}
next:
	for _, arg := range args {
		for _, b := range list {
			if b.Branch == arg {
				if err := show(arg, b.Tokens, tokensDoc{Branch: arg}); err != nil {
					return err
				}
				continue next
			}
		}
		id, err := s.Resolve(view, strings.TrimSpace(arg))
		if err != nil {
			return err
		}
		set, err := s.EntryTokens(view, name, id)
		if err != nil {
			return err
		}
		if err := show(id.String(), set, tokensDoc{ID: id.String()}); err != nil {
			return err
		}
	}
	return nil
}
