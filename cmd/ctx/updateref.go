package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newUpdateRefCmd(a *app) *cobra.Command {
	var remove bool
	cmd := a.newCmd("update-ref REF NEW [OLD] | -d REF [OLD]",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			u := refUpdate{name: strings.TrimPrefix(args[0], "refs/"), remove: remove}
			rest := args[1:]
			if !remove {
				u.to, rest = rest[0], rest[1:]
			}
			if len(rest) > 0 {
				u.old = &rest[0]
			}
			return updateRef(a, s, view, u)
		}))
	cmd.Args = either(&remove, between(1, 2), between(2, 3))
	cmd.ValidArgsFunction = a.completeRevs()
	cmd.Flags().BoolVarP(&remove, "delete", "d", false, "delete the ref")
	return cmd
}

// refUpdate is the change that the command line asks for.
type refUpdate struct {
	name, to string
	old      *string
	remove   bool
}

func updateRef(a *app, s *session.Store, view *refs.View, u refUpdate) (err error) {
	var to format.ID
	if !u.remove {
		if isZeros(u.to) {
			return withHint(usagef("64 zeros name no object"), "-d deletes a ref")
		}
		if to, err = resolve(s, view, u.to); err != nil {
			return err
		}
	}
	expect, err := u.expected(s, view)
	if err != nil {
		return err
	}
	top, _, _ := strings.Cut(u.name, "/")
	switch top {
	case "user":
		err = s.State.UpdateRef(a.c, u.name, to, expect)
	case "sessions":
		to, err = endAt(a.c, s, u, to, expect)
	default:
		err = refusedRef(u.name, top)
	}
	if err != nil || !a.json {
		return err
	}
	return a.answer("name", u.name, "id", to)
}

// expected returns the id of OLD: nil for any value, and zero for no ref.
func (u *refUpdate) expected(s *session.Store, view *refs.View) (*format.ID, error) {
	if u.old == nil {
		return nil, nil
	}
	if isZeros(*u.old) {
		return &format.ID{}, nil
	}
	id, err := resolve(s, view, *u.old)
	return &id, err
}

func isZeros(s string) bool { return len(s) == format.IDLen && strings.Trim(s, "0") == "" }

// endAt moves a branch back and returns its new tip.
func endAt(
	c context.Context, s *session.Store, u refUpdate, to format.ID, expect *format.ID,
) (format.ID, error) {
	inSession, branch := branchOf(u.name)
	if u.remove {
		return to, withHint(fmt.Errorf("%w: %q is a session's branch", history.ErrRefused, u.name),
			"`ctx session rm` removes a session")
	}
	if branch == "" || strings.Contains(branch, "/") {
		return to,
			usagef("not the ref of a branch: %q: the form is sessions/SESSION/BRANCH", u.name)
	}
	var o conversation.RewindOptions
	if expect != nil {
		if expect.IsZero() {
			return to,
				withHint(fmt.Errorf("%w: a branch cannot be made here: %q", history.ErrRefused,
					u.name), "`ctx append` makes a session")
		}
		o.Expect = *expect
	}
	done, err := s.Conversation.EndAt(c, inSession, branch, to, o)
	if err == nil && !done.Known {
		to = done.Entry
	}
	return to, err
}

func refusedRef(name, top string) error {
	err := fmt.Errorf("%w: %q cannot be moved by hand", history.ErrRefused, name)
	switch top {
	case "HEAD":
		return withHint(err, "`ctx session use` moves it")
	case "state":
		return withHint(err, "`ctx session state` and `ctx session link` move it")
	case "forests", "epochs":
		return withHint(err, "ctx moves it when the sessions change")
	}
	return withHint(usagef("no such kind of ref: %q", name),
		"the names of your own refs begin with user/")
}
