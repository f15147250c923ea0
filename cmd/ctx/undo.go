package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newUndoCmd(a *app) *cobra.Command {
	cmd := turnCmd(a,
		"undid",
		func(s *session.Store, c context.Context, name string) (conversation.Undone, error) {
			return s.Conversation.Undo(c, name)
		})
	cmd.Use = "undo [-s SESSION]"
	cmd.Short = "Revert the last change of a session"
	cmd.Long = long(`Reverts the last change of a session, and prints the operation. A change is an
append, an import, a rewind, a removal, a fork or a join, a mask, a replacement, an offload, an
observation, a new state, or a link to another session. The branches get back their old tips.
Clusters are not restored to an old state: entries that leave the session leave the clusters, and
entries that return go back to their places. Undo passes over compactions, evictions and pulls.
Right after a forget it is refused. Each further undo reverts one more change, until something else
happens in the session.`, exitNoStore, exitLocked, exitStale, exitCorrupt, exitGone, exitNotFound)
	cmd.Example = "  ctx undo\n  ctx undo -s work"
	return cmd
}

func newRedoCmd(a *app) *cobra.Command {
	cmd := turnCmd(a,
		"redid",
		func(s *session.Store, c context.Context, name string) (conversation.Undone, error) {
			return s.Conversation.Redo(c, name)
		})
	cmd.Use = "redo [-s SESSION]"
	cmd.Short = "Repeat the change that the last undo reverted"
	cmd.Long = long(`Repeats the change that the last undo of a session reverted, and prints the
operation. This works only if nothing else has happened in the session since.`,
		exitNoStore, exitLocked, exitStale, exitCorrupt, exitGone, exitNotFound)
	cmd.Example = "  ctx redo -s work"
	return cmd
}

// turnCmd returns the common part of undo and redo.
func turnCmd(
	a *app, past string,
	turn func(*session.Store, context.Context, string) (conversation.Undone, error),
) *cobra.Command {
	o := &ofSession{}
	cmd := &cobra.Command{Args: between(0, 0)}
	o.add(a, cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		s, _, name, err := o.open(a)
		if err != nil {
			return err
		}
		done, err := turn(s, a.c, name)
		if err != nil {
			return err
		}
		return a.result(fields("session", name, done), "%s %s (operation %d)", past, done.Verb,
			done.Operation)
	}
	return cmd
}
