package main

import (
	"errors"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/spf13/cobra"
)

func newExpandCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	var reader string
	budget := 0
	cmd := o.newCmd(a, "expand ID...", func(args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		var ids []format.ID
		for _, arg := range args {
			id, err := s.Clusters.Resolve(view, arg)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		options := recall.ExpandOptions{Session: o.session, Branch: o.branch}
		if o.session != "" {
			if options.Session, err = s.Recall.NamedOr(view, o.session); err != nil {
				return err
			}
		}
		if reader != "" {
			if options, err = readerOnly(s, view, o.session, reader); err != nil {
				return err
			}
		}
		return a.within(budget, func() error {
			for _, id := range ids {
				if err := expand(a, s, view, id, options); err != nil {
					return err
				}
			}
			return nil
		})
	})
	cmd.Flags().IntVar(&budget, "budget", 0, "print at most `N` tokens, of the beginning and the end")
	cmd.Flags().StringVar(&reader, "reader", "",
		"print only what a reader in `BRANCH`, or at a revision, may see")
	return cmd
}

// readerOnly drops entries that a reader may not see.
func readerOnly(
	s *session.Store, view *refs.View, name, reader string,
) (o recall.ExpandOptions, err error) {
	if name, err = sessionOr(s, view, name); err != nil {
		return o, err
	}
	o.Reader, err = s.Clusters.NewViewer(view, name, reader)
	return o, err
}

// expand prints the messages that id stands for. A forgotten member of a cluster is printed as
// such; a forgotten entry that the caller named is an error.
func expand(a *app, s *session.Store, view *refs.View, id format.ID, o recall.ExpandOptions) error {
	var gone error
	t := &find.Telling{Reader: s.Recall.Reader, View: view}
	err := s.Recall.Expand(view, id, o, func(shown *history.Shown) error {
		if shown.Gone != "" && shown.ID == id {
			gone = &objects.GoneError{ID: id, Reason: shown.Gone}
		}
		return errors.Join(a.c.Err(), a.printEntry(t, shown))
	})
	return errors.Join(err, gone)
}
