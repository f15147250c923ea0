package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session"
)

func newUndoCmd(a *app) *cobra.Command {
	cmd := turnCmd(a, "undid", func(s *session.Store, c context.Context, name string) (session.Undone, error) { return s.Undo(c, name) })
	cmd.Use = "undo [-s SESSION]"
	cmd.Short = "Take back the last change of a session"
	cmd.Long = long(`Takes back the last append, import, rewind or removal of a session. What its branches held before, they hold again; clusters are not
rolled back: entries that leave the session leave them, and entries that come back return to where they were. Each further undo goes
one change further back, until something else happens in the session.`, exitNoStore, exitLocked, exitStale, exitCorrupt, exitGone, exitNotFound)
	cmd.Example = "  ctx undo\n  ctx undo -s work"
	return cmd
}

func newRedoCmd(a *app) *cobra.Command {
	cmd := turnCmd(a, "redid", func(s *session.Store, c context.Context, name string) (session.Undone, error) { return s.Redo(c, name) })
	cmd.Use = "redo [-s SESSION]"
	cmd.Short = "Bring back what the last undo took"
	cmd.Long = long(`Brings back the change that the last undo of a session took back, as long as nothing else has happened in the session.`,
		exitNoStore, exitLocked, exitStale, exitCorrupt, exitGone, exitNotFound)
	cmd.Example = "  ctx redo -s work"
	return cmd
}

// turnCmd is what undo and redo have in common.
func turnCmd(a *app, past string, turn func(*session.Store, context.Context, string) (session.Undone, error)) *cobra.Command {
	var named string
	cmd := &cobra.Command{Args: between(0, 0)}
	cmd.Flags().StringVarP(&named, "session", "s", "", "the session (default: the one that HEAD names)")
	completeFlag(cmd, "session", a.completeSessions())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("session") {
			if err := checkName("session", named); err != nil {
				return err
			}
		}
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		name, err := sessionOr(view, named)
		if err != nil {
			return err
		}
		done, err := turn(s, cmd.Context(), name)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(struct {
				V         int    `json:"v"`
				Session   string `json:"session"`
				Operation uint64 `json:"operation"`
				Verb      string `json:"verb"`
				Retracted int    `json:"retracted"`
				Restored  int    `json:"restored"`
			}{1, name, done.Operation, done.Verb, done.Retracted, done.Restored})
		}
		a.line("%s %s (operation %d)", past, done.Verb, done.Operation)
		return nil
	}
	return cmd
}
