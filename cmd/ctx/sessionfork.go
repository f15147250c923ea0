package main

import (
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/spf13/cobra"
)

func newSessionForkCmd(a *app) *cobra.Command {
	var branch string
	cmd := a.newCmd("fork SESSION [NAME]", func(args []string) error {
		for _, name := range args {
			if err := checkName("session", name); err != nil {
				return err
			}
		}
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		from, err := s.Recall.Named(view, args[0])
		if of, _, isEarlier := strings.Cut(args[0], "~"); err != nil && isEarlier {
			return withHint(err, "`ctx branch fork -s %s --at %s main NAME` begins a branch there",
				of, args[0])
		}
		if err != nil {
			return err
		}
		name := from
		if label, shared := history.Owner(view, from); shared {
			name = strings.TrimSuffix(from, "@"+label)
		}
		if len(args) > 1 {
			if name = args[1]; sessions.IsSign(name) {
				return usagef("a session cannot be named %q: it stands for another one", name)
			}
		}
		id, err := s.Conversation.GoOn(a.c, from, branch, name)
		if errors.Is(err, history.ErrRefused) && len(args) == 1 {
			return withHint(err, "`ctx session fork %s NAME` gives the new one a name", args[0])
		}
		if err != nil {
			return err
		}
		a.say("%s goes on from %s", oneLine(name), oneLine(from))
		return a.result(fields("id", id.String(), "session", name, "from", from), "%v", id)
	})
	cmd.ValidArgsFunction = a.completeSessions()
	cmd.Flags().StringVarP(&branch, "branch", "b", history.MainBranch, "the branch of SESSION")
	return cmd
}
