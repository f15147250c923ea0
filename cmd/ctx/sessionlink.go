package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func parentText(d *document.Parent) string {
	if d.Call == "" {
		return oneLine("works for " + d.Session)
	}
	return oneLine("works for " + d.Session + ", call " + d.Call)
}

func newSessionLinkCmd(a *app) *cobra.Command {
	var orphan, apart bool
	cmd := a.newCmd("link CHILD PARENT CALL",
		a.onView(func(s *session.Store, view *refs.View, args []string) error {
			child, err := s.Recall.NamedOr(view, args[0])
			if err != nil {
				return err
			}
			p := history.Parent{Call: args[2], Apart: apart}
			if p.Session, err = s.Recall.NamedOr(view, args[1]); err != nil {
				return err
			}
			known, err := s.Conversation.Link(a.c, child, p, orphan)
			if err != nil || !a.json {
				return err
			}
			return a.answer("session", child, "parent", document.ParentOf(&p), "known", known)
		}))
	cmd.ValidArgsFunction = a.completeSessions()
	cmd.Flags().BoolVar(&orphan, "orphan", false, "accept a call that is not in the parent")
	cmd.Flags().BoolVar(&apart, "apart", false, "share nothing about models with the parent")
	return cmd
}

// readParentCall parses SESSION/CALL, the value of --parent-call.
func readParentCall(text string) (*history.Parent, error) {
	name, call, ok := strings.Cut(text, "/")
	if !ok || call == "" {
		return nil, usagef("bad --parent-call: %.80q: the form is SESSION/CALL", text)
	}
	if err := checkName("session", name); err != nil {
		return nil, err
	}
	if _, err := format.EncodeName(call); err != nil {
		return nil, usagef("bad --parent-call: %v", err)
	}
	return &history.Parent{Session: name, Call: call}, nil
}
