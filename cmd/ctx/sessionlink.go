package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

type parentDoc = document.Parent

func parentDocOf(p *session.Parent) *parentDoc { return document.ParentOf(p) }

func parentText(d *parentDoc) string {
	if d.Call == "" {
		return oneLine("works for " + d.Session)
	}
	return oneLine("works for " + d.Session + ", call " + d.Call)
}

func newSessionLinkCmd(a *app) *cobra.Command {
	var orphan, apart bool
	cmd := &cobra.Command{
		Use:   "link CHILD PARENT CALL",
		Short: "Say for which call of which session a session works",
		Long: long(`Links a session, that of a subagent, to the session and the tool call that it works for. `+"`ctx session show`"+` tells it. Nothing
of the parent changes, and nothing that is said in the child shows in it. A session is linked once; another link is refused (12).

What the child finds out about models (`+"`ctx avail -s CHILD`"+`) is shared with its parent, unless --apart says otherwise.`,
			exitNoStore, exitLocked, exitStale, exitCorrupt, exitNotFound),
		Example:           "  ctx session link work-search work call-7",
		Args:              between(3, 3),
		ValidArgsFunction: a.completeSessions(),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args[:2] {
				if err := checkName("session", name); err != nil {
					return err
				}
			}
			s, err := a.openStore()
			if err != nil {
				return err
			}
			p := session.Parent{Session: args[1], Call: args[2], Apart: apart}
			known, err := s.Link(cmd.Context(), args[0], p, orphan)
			if err != nil || !a.json {
				return err
			}
			return a.printJSON(struct {
				V       int        `json:"v"`
				Session string     `json:"session"`
				Parent  *parentDoc `json:"parent"`
				Known   bool       `json:"known"`
			}{1, args[0], parentDocOf(&p), known})
		},
	}
	cmd.Flags().BoolVar(&orphan, "orphan", false, "accept a call that is not in the parent")
	cmd.Flags().BoolVar(&apart, "apart", false, "what the child finds out about models is its own")
	return cmd
}

// readParentCall reads SESSION/CALL, the value of --parent-call.
func readParentCall(text string) (*session.Parent, error) {
	name, call, ok := strings.Cut(text, "/")
	if !ok || call == "" {
		return nil, usagef("bad --parent-call: %.80q: SESSION/CALL is the form", text)
	}
	if err := checkName("session", name); err != nil {
		return nil, err
	}
	if _, err := format.EncodeName(call); err != nil {
		return nil, usagef("bad --parent-call: %v", err)
	}
	return &session.Parent{Session: name, Call: call}, nil
}
