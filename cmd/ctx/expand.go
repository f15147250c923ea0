package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

func newExpandCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	var reader string
	cmd := &cobra.Command{
		Use:   "expand ID...",
		Short: "Show the exact messages behind a cluster, a summary or a tombstone",
		Long: long(`Shows the messages that an object stands for, in order and in full: a cluster, a summary, a tombstone, a forest, or one entry. Ids
are those that `+"`ctx render` and `ctx forest`"+` print, or the beginning of one. With -s only what that session has is shown, with
--reader what a reader in that branch of the session may see.`,
			exitNoStore, exitCorrupt, exitGone, exitNotFound),
		Example:           "  ctx expand 9d2f04c1\n  ctx expand --json 9d2f04c1 | jq -r .text",
		Args:              between(1, -1),
		ValidArgsFunction: a.completeRevs(),
	}
	o.add(cmd)
	cmd.Flags().StringVar(&reader, "reader", "", "only what a reader in this `BRANCH`, or at this revision, of the session may see")
	completeFlag(cmd, "session", a.completeSessions())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		var ids []format.ID
		for _, arg := range args {
			id, err := s.Resolve(view, arg)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		options := session.ExpandOptions{Session: o.session, Branch: o.branch}
		if o.session != "" {
			if options.Session, err = session.NamedOr(view, o.session); err != nil {
				return err
			}
		}
		if reader != "" {
			if options, err = readerOnly(s, view, o.session, reader); err != nil {
				return err
			}
		}
		for _, id := range ids {
			if err := expand(cmd.Context(), a, s, view, id, options); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// readerOnly leaves out what a reader may not see.
func readerOnly(s *session.Store, view *refs.View, name, reader string) (o session.ExpandOptions, err error) {
	if name, err = sessionOr(view, name); err != nil {
		return o, err
	}
	o.Reader, err = s.NewReader(view, name, reader)
	return o, err
}

// expand prints what id stands for. That a member of a cluster was forgotten is told in its place; that an entry was which somebody named is an error.
func expand(c context.Context, a *app, s *session.Store, view *refs.View, id format.ID, o session.ExpandOptions) error {
	var gone error
	err := s.Expand(view, id, o, func(shown *session.Shown) error {
		if shown.Gone != "" && shown.ID == id {
			gone = &objects.GoneError{ID: id, Reason: shown.Gone}
		}
		return errors.Join(c.Err(), a.printEntry(shown))
	})
	return errors.Join(err, gone)
}
