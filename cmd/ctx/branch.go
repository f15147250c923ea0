package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/history/dag"
	"github.com/spf13/cobra"
)

type forkOptions struct {
	ofSession
	at, expect, invocation string
}

func newBranchForkCmd(a *app) *cobra.Command {
	o := &forkOptions{}
	cmd := o.newCmd(a, "fork [-s SESSION] PARENT CHILD...",
		func(args []string) error { return o.run(a, args[0], args[1:]) })
	cmd.Flags().StringVar(&o.at, "at", "", "start independent lines after `REV`")
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail unless this entry is the tip")
	cmd.Flags().StringVar(&o.invocation, "invocation", "",
		"the agent's run (default: that of the parent's tip)")
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
	cmd := o.newCmd(a, "join [-s SESSION] PARENT CHILD...",
		func(args []string) error { return o.run(a, args[0], args[1:]) })
	cmd.Flags().StringVar(&o.expect, "expect", "", "fail unless this entry is the tip")
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
	return o.newCmd(a, "list [-s SESSION]", func([]string) error {
		s, view, name, err := o.open(a)
		if err != nil {
			return err
		}
		list, err := s.Conversation.Branches(view, name)
		if err != nil {
			return err
		}
		l := a.listing()
		for _, b := range list {
			state, parent := "line", ""
			if !b.Fork.IsZero() {
				state = "open"
			}
			if b.Parent != "" {
				parent = shellWord(b.Parent)
			}
			l.add(fields("session", name, "branch", b.Name, "state", state, "parent",
				document.OrNull(b.Parent), "fork", b.Fork, "tip", b.Value.ID, "seq", b.Seq,
				"invocation", document.OrNull(b.Invocation)),
				shellWord(b.Name), state, fmt.Sprint(b.Seq), b.Value.ID.Short(12), parent)
		}
		return l.print()
	})
}

type visibleOptions struct {
	ofSession
	reader string
	all    bool
}

func newBranchVisibleCmd(a *app) *cobra.Command {
	o := &visibleOptions{}
	cmd := o.newCmd(a, "visible [-s SESSION] --reader BRANCH", func([]string) error {
		s, view, name, err := o.open(a)
		if err != nil {
			return err
		}
		r, err := s.Clusters.NewViewer(view, name, o.reader)
		if err != nil {
			return err
		}
		t := &find.Telling{Reader: s.Recall.Reader, View: view}
		return s.Clusters.Each(r, o.all, func(shown *history.Shown) error {
			return errors.Join(a.c.Err(), a.printEntry(t, shown))
		})
	})
	cmd.Flags().StringVar(&o.reader, "reader", history.MainBranch,
		"the reader's branch or revision")
	cmd.Flags().BoolVar(&o.all, "all", false, "print every kind of entry")
	return cmd
}

func newBranchTokensCmd(a *app) *cobra.Command {
	o := &ofSession{}
	return o.newCmd(a, "tokens [-s SESSION] [BRANCH|REV]...",
		func(args []string) error { return o.tokens(a, args) })
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
