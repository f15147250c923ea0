package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/history/dag"
	"github.com/gemini-ctx/ctx/internal/recall"
)

func newBranchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "branch fork|join|list|visible|tokens",
		Short: "Fork and join the branches of a session",
		Long: long(`A session has a branch main, and may have more. Agents that work in parallel
each get a branch from a fork. Each branch sees what its parent had said by then, and nothing of its
siblings, until a join brings its messages to the parent.`),
		Example: "  ctx branch fork -s work main tests docs\n  ctx branch join -s work " +
			"main tests docs",
	}
	return group(cmd, newBranchForkCmd(a), newBranchJoinCmd(a), newBranchListCmd(a),
		newBranchVisibleCmd(a),
		newBranchTokensCmd(a))
}

type forkOptions struct {
	ofSession
	at, expect, invocation string
}

func newBranchForkCmd(a *app) *cobra.Command {
	o := &forkOptions{}
	cmd := &cobra.Command{
		Use:   "fork [-s SESSION] PARENT CHILD...",
		Short: "Start branches at the tip of a branch",
		Long: long(`Starts each CHILD at the tip of PARENT, in one operation, and prints the id of
the fork. A child has what PARENT has said so far. Its own messages stay in the child until
`+"`ctx branch join`"+`, and graduate only then, so that no summary shows them to others. In an open
fork, messages without an invocation belong to the invocation of the fork.

With --at the children are independent lines: they end at REV, an earlier entry of PARENT, and
are no children to join. They keep what the model of PARENT was last told.`, exitNoStore,
			exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example: "  ctx branch fork -s work main tests docs\n  ctx branch fork -s work main " +
			"again --at work~4",
		Args: between(2, -1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args[0], args[1:]) },
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.at, "at", "", "start independent lines, whose last entry is `REV`")
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail unless the tip of PARENT is this entry")
	cmd.Flags().StringVar(&o.invocation, "invocation", "",
		"the run of the agent that forks (default: that of the parent's tip)")
	return cmd
}

func (o *forkOptions) run(a *app, parent string, children []string) error {
	b, err := o.openAt(a, parent, children...)
	if err != nil {
		return err
	}
	options := conversation.ForkOptions{Invocation: o.invocation}
	if o.invocation != "" {
		if err := format.CheckName(o.invocation); err != nil {
			return usagef("bad --invocation: %.80q: %v", o.invocation, err)
		}
	}
	if options.At, err = b.entry(o.at); err != nil {
		return err
	}
	if options.Expect, err = b.entry(o.expect); err != nil {
		return err
	}
	done, err := b.s.Conversation.Fork(a.c, b.name, parent, children, options)
	if err != nil {
		return err
	}
	doc := fields("id", done.Entry, "session", b.name, "parent", parent, "children", children,
		"line", done.Line)
	return a.result(doc, "%v", done.Entry)
}

type joinOptions struct {
	ofSession
	expect string
}

func newBranchJoinCmd(a *app) *cobra.Command {
	o := &joinOptions{}
	cmd := &cobra.Command{
		Use:   "join [-s SESSION] PARENT CHILD...",
		Short: "Join child branches into their parent",
		Long: long(`Brings the messages of each CHILD to PARENT, in the order of the arguments, and
prints the id of the join. The names of the children become free. A child that failed is joined like
any other, with the messages that it has. A child that is not named stays open, and PARENT does not
see its messages within this invocation.

CHILD may also be SESSION@STORE, a session of another store that is one with this session up to
some message. The join brings what its main branch has said since, and can be repeated as the
other store goes on. The session of the other store stays as it is.`, exitNoStore, exitLocked,
			exitStale, exitCorrupt, exitNotFound),
		Example: "  ctx branch join -s work main tests docs\n  ctx branch join -s work " +
			"main work@laptop",
		Args: between(2, -1),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(a, args[0], args[1:]) },
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail unless the tip of PARENT is this entry")
	return cmd
}

func (o *joinOptions) run(a *app, parent string, children []string) error {
	b, err := o.openAt(a, parent, children...)
	if err != nil {
		return err
	}
	expect, err := b.entry(o.expect)
	if err != nil {
		return err
	}
	done, err := b.s.Conversation.Join(a.c, b.name, parent, children,
		conversation.JoinOptions{Expect: expect})
	if err != nil {
		return err
	}
	for _, name := range done.Known {
		a.say("%s has all of %s", oneLine(parent), oneLine(name))
	}
	doc := fields("id", done.Entry, "session", b.name, "parent", parent, "children", children,
		"messages", done.Messages, "open", done.Open)
	return a.result(doc, "%v", done.Entry)
}

func newBranchListCmd(a *app) *cobra.Command {
	o := &ofSession{}
	cmd := &cobra.Command{
		Use:   "list [-s SESSION]",
		Short: "List the branches of a session",
		Long: long(`Lists the branches by name, with their state, the number of their messages,
their tip and their parent. The state "open" means a child of a fork that is not joined; "line"
means main or an independent line.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx branch list -s work --json",
		Args:    between(0, 0),
	}
	o.add(a, cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		s, view, name, err := o.open(a)
		if err != nil {
			return err
		}
		list, err := s.Conversation.Branches(view, name)
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
				a.document("session", name, "branch", b.Name, "state", state, "parent",
					document.OrNull(b.Parent), "fork", b.Fork,
					"tip", b.Value.ID, "seq", b.Seq, "invocation", document.OrNull(b.Invocation))
				continue
			}
			rows = append(rows,
				[]string{b.Name, state, strconv.FormatUint(b.Seq, 10),
					b.Value.ID.Short(12), b.Parent})
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
		Short: "Print what a reader in a branch may see",
		Long: long(`Prints each message and note of the session that a reader in BRANCH may see, in
the order in which they came. Within an invocation, that is what the branch stands on: what was said
on it, before its fork, and on the children that were joined into it. Messages of other invocations
are visible as soon as they exist. BRANCH may also be a joined branch, as it was then, or a
revision; the reader knows nothing that came later.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx branch visible -s work --reader tests --json | jq -r .id",
		Args:    between(0, 0),
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.reader, "reader", history.MainBranch,
		"the branch or the revision of the reader")
	cmd.Flags().BoolVar(&o.all, "all", false, "print every kind of entry")
	cmd.RunE = func(*cobra.Command, []string) error {
		s, view, name, err := o.open(a)
		if err != nil {
			return err
		}
		r, err := s.Clusters.NewViewer(view, name, o.reader)
		if err != nil {
			return err
		}
		t := &recall.Telling{Reader: s.Recall, View: view}
		return s.Clusters.Each(r, o.all, func(shown *history.Shown) error {
			return errors.Join(a.c.Err(), a.printEntry(t, shown))
		})
	}
	return cmd
}

func newBranchTokensCmd(a *app) *cobra.Command {
	o := &ofSession{}
	cmd := &cobra.Command{
		Use:   "tokens [-s SESSION] [BRANCH|REV]...",
		Short: "Print token sets of branches",
		Long: long(`Prints the token set of each branch, or of the named branches and entries. Some
agents use token sets to say what a branch may see. A set has a number for each child of a fork that
the branch has come through, in its invocation. A reader sees an entry if the entry's set is part of
the reader's set. The sets are derived from forks and joins; ctx decides nothing by them.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx branch tokens -s work",
	}
	o.add(a, cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error { return o.tokens(a, args) }
	return cmd
}

func (o *ofSession) tokens(a *app, args []string) error {
	s, view, name, err := o.open(a)
	if err != nil {
		return err
	}
	list, err := s.History.Tokens(view, name)
	if err != nil {
		return err
	}
	show := func(key, what string, set dag.Tokens) error {
		return a.result(fields(key, what, "tokens", []uint64(set)), "%s\t%v", what, set)
	}
	if len(args) == 0 {
		for _, b := range list {
			if err := show("branch", b.Branch, b.Tokens); err != nil {
				return err
			}
		}
		return nil
	}
next:
	for _, arg := range args {
		for _, b := range list {
			if b.Branch == arg {
				if err := show("branch", arg, b.Tokens); err != nil {
					return err
				}
				continue next
			}
		}
		id, err := s.Clusters.Resolve(view, strings.TrimSpace(arg))
		if err != nil {
			return err
		}
		set, err := s.History.EntryTokens(view, name, id)
		if err != nil {
			return err
		}
		if err := show("id", id.String(), set); err != nil {
			return err
		}
	}
	return nil
}
