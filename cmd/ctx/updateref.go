package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

func newUpdateRefCmd(a *app) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "update-ref REF NEW [OLD] | -d REF [OLD]",
		Short: "Move a ref safely, or take it away",
		Long: long(`Makes a ref under user/ name an object; with -d it is taken away. With OLD nothing happens (12) unless that is what the
ref names now; an OLD of 64 zeros says that there must be no such ref.

The ref of a session's branch moves as `+"`ctx rewind`"+` does it: NEW must be in the branch, and what follows it leaves. Other
refs are moved by the commands that they belong to, and refused here (12).`,
			exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example: "  ctx update-ref user/before-demo @\n  ctx update-ref -d user/before-demo",
		Args: func(cmd *cobra.Command, args []string) error {
			if remove {
				return between(1, 2)(cmd, args)
			}
			return between(2, 3)(cmd, args)
		},
		ValidArgsFunction: a.completeRevs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			u := refUpdate{name: strings.TrimPrefix(args[0], "refs/"), remove: remove}
			rest := args[1:]
			if !remove {
				u.to, rest = rest[0], rest[1:]
			}
			if len(rest) > 0 {
				u.old = &rest[0]
			}
			return updateRef(a, cmd, u)
		},
	}
	cmd.Flags().BoolVarP(&remove, "delete", "d", false, "take the ref away")
	return cmd
}

// refUpdate is what the command line asks for.
type refUpdate struct {
	name, to string
	old      *string
	remove   bool
}

func updateRef(a *app, cmd *cobra.Command, u refUpdate) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if !u.remove && isZeros(u.to) {
		return withHint(usagef("64 zeros name no object"), "-d takes a ref away")
	}
	var to format.ID
	if !u.remove {
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
		err = s.UpdateRef(cmd.Context(), u.name, to, expect)
	case "sessions":
		to, err = endAt(cmd, s, u, to, expect)
	default:
		err = refusedRef(u.name, top)
	}
	if err != nil || !a.json {
		return err
	}
	return a.printJSON(struct {
		V    int     `json:"v"`
		Name string  `json:"name"`
		ID   *string `json:"id"`
	}{1, u.name, idText(to)})
}

// expected returns what OLD says: nil for anything, zero for no ref.
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

// endAt moves a branch back, and returns its new tip.
func endAt(cmd *cobra.Command, s *session.Store, u refUpdate, to format.ID, expect *format.ID) (format.ID, error) {
	inSession, branch := branchOf(u.name)
	if u.remove {
		return to, withHint(fmt.Errorf("%w: %q is a session's branch", session.ErrRefused, u.name), "`ctx session rm` removes a session")
	}
	if branch == "" || strings.Contains(branch, "/") {
		return to, usagef("no ref of a session's branch: %q: sessions/SESSION/BRANCH is the form", u.name)
	}
	var o session.RewindOptions
	if expect != nil {
		if expect.IsZero() {
			return to, withHint(fmt.Errorf("%w: a branch cannot be made here: %q", session.ErrRefused, u.name), "`ctx append` makes a session")
		}
		o.Expect = *expect
	}
	done, err := s.EndAt(cmd.Context(), inSession, branch, to, o)
	if err == nil && !done.Known {
		to = done.Entry
	}
	return to, err
}

func refusedRef(name, top string) error {
	err := fmt.Errorf("%w: %q is not yours to move", session.ErrRefused, name)
	switch top {
	case "HEAD":
		return withHint(err, "`ctx session use` moves it")
	case "state":
		return withHint(err, "`ctx session state` and `ctx session link` move it")
	case "forests", "epochs":
		return withHint(err, "it follows from what happens in the sessions")
	}
	return withHint(usagef("no such kind of ref: %q", name), "names that people give begin with user/")
}
