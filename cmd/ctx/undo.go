package main

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/spf13/cobra"
)

func newUndoCmd(a *app) *cobra.Command {
	var cmd *cobra.Command
	cmd = turnCmd(a, "undo [-s SESSION] [OPERATION]", "undid",
		func(s *session.Store, c context.Context, name string, args []string) (
			conversation.Undone, error,
		) {
			number := uint64(0)
			if len(args) > 0 {
				var err error
				if number, err = strconv.ParseUint(args[0], 10, 64); err != nil || number == 0 {
					return conversation.Undone{},
						withHint(usagef("bad operation: %.80q: a number from 1", args[0]),
							"`ctx op log` lists the operations; -s names a session")
				}
			}
			done, err := s.Conversation.UndoMeant(c, name, number,
				cmd.Flags().Changed("session"))
			var other *conversation.NotMeantError
			view, failed := s.Refs.Read()
			if failed != nil {
				return done, cmp.Or(err, failed)
			}
			short := func(name string) string { return shellWord(sessions.ShortName(view, name)) }
			switch {
			case !errors.As(err, &other):
			case other.Meant.Verb == "":
				err = withHint(err, "`ctx op log` lists the operations")
			case other.Session != "":
				err = withHint(err, "`ctx undo -s %s` takes that %s back, `ctx undo -s %s` the %s",
					short(other.Session), other.Meant.Called, short(name), other.Target.Called)
				other.Session = oneLine(s.Recall.Titled(view, other.Session))
			default:
				err = withHint(err, "`ctx undo -s %s %d` takes that %s back, and leaves the %s",
					short(name), other.Target.Operation, other.Target.Called,
					other.Meant.Called)
			}
			return done, err
		})
	return cmd
}

func newRedoCmd(a *app) *cobra.Command {
	return turnCmd(a, "redo [-s SESSION]", "redid",
		func(s *session.Store, c context.Context, name string, _ []string) (
			conversation.Undone, error,
		) {
			return s.Conversation.Redo(c, name)
		})
}

// turnCmd returns the common part of undo and redo.
func turnCmd(
	a *app, use, past string,
	turn func(*session.Store, context.Context, string, []string) (conversation.Undone, error),
) *cobra.Command {
	o := &ofSession{past: true}
	return o.newCmd(a, use, func(args []string) error {
		s, view, name, err := o.open(a)
		if err != nil {
			return err
		}
		done, err := turn(s, a.c, name, args)
		if err != nil {
			return err
		}
		if !a.json {
			a.sayUndone(oneLine(s.Recall.Titled(view, name)), done)
		}
		return a.result(fields("session", name, done), "%s %s (operation %d)", past, done.Called,
			done.Operation)
	})
}

// sayUndone says what an undo or a redo did to a session, and what it left as it was.
func (a *app) sayUndone(session string, done conversation.Undone) {
	passed := map[string]bool{}
	for _, p := range done.Passed {
		if !passed[p.Verb] {
			a.say("%s (operation %d) stays as it is", p.Called, p.Operation)
		}
		passed[p.Verb] = true
	}
	if done.Left > 0 {
		a.say("%s left session %s", plural(done.Left, "message", "messages"), session)
	}
	if done.Back > 0 {
		a.say("%s came back to session %s", plural(done.Back, "message", "messages"), session)
	}
}
