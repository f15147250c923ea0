package main

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame/whose"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/when"
	"github.com/gemini-ctx/ctx/refs"
)

// ofFile prints the messages whose calls changed a file, with the names of their sessions.
func (o *logOptions) ofFile(a *app, s *session.Store, view *refs.View, within when.Span) error {
	path, asked, err := a.askedFile(o.file, o.session)
	if err != nil {
		return err
	}
	calls, err := whose.Calls(a.c, s, view, path, asked)
	if err != nil {
		return err
	}
	var list []format.ID
	for _, c := range calls {
		if within.Has(c.Header.Time) && !slices.Contains(list[max(len(list)-1, 0):], c.Entry) {
			list = append(list, c.Entry)
		}
	}
	if o.limit > 0 && len(list) > o.limit {
		list = list[len(list)-o.limit:]
	}
	if o.reverse {
		slices.Reverse(list)
	}
	t := &find.Telling{Reader: s.Recall.Reader, Full: o.verbose, View: view}
	p, at := &foundPrinter{a: a, verbose: o.verbose}, &place{s: s, view: view}
	for _, id := range list {
		shown, err := s.Recall.Current(view, id)
		if err != nil {
			return err
		}
		if a.json {
			err = a.printEntry(t, shown)
		} else if err = p.in(at, shown.Entry.Session, ""); err == nil {
			a.line("%s\n%s", a.heading(shown), entryBody(t, shown))
			err = a.out.err
		}
		if err != nil {
			return err
		}
	}
	return a.foundOr(len(list) > 0, "no call of a session changed "+path)
}
