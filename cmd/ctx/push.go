package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/sharing"
)

func newPushCmd(a *app) *cobra.Command {
	var o sharing.PushOptions
	cmd := a.newCmd("push [NAME]",
		a.onRemote(func(s *session.Store, x *sharing.Sharer, name string) error {
			r, err := x.Push(a.c, o)
			if err != nil {
				return fmt.Errorf("cannot push to %s: %w", name, err)
			}
			if err := a.printPush(s, name, r, o.DryRun); err != nil {
				return err
			}
			return a.heldBack(name, r)
		}))
	cmd.ValidArgsFunction = a.completeRemotes(false)
	cmd.Flags().BoolVarP(&o.DryRun, "dry-run", "n", false,
		"list what would leave, and change nothing")
	return cmd
}

// printPush prints what was pushed, a line for each session.
func (a *app) printPush(s *session.Store, name string, r sharing.PushReport, dry bool) error {
	if a.json {
		return a.answer("remote", name, "push", r.Number, "dryRun", dry, "sessions",
			r.Sessions, "ended", r.Ended, "objects", r.Objects, "bytes", r.Bytes,
			"forgot", r.Forgot, "findings", r.Findings)
	}
	for _, p := range r.Sessions {
		if !p.Held() {
			a.line("%s  %s", oneLine(p.Name), plural(p.Messages, "message", "messages"))
		}
	}
	for _, session := range r.Ended {
		a.line("%s  no longer shared", oneLine(session))
	}
	verb := "pushed"
	if dry {
		verb = "would push"
	}
	switch {
	case r.Number == 0:
		a.say("nothing new for %s%s", name, a.shareHint(s, name))
	case r.Forgot > 0:
		a.say("%s to %s: %s, %s to forget", verb, name, byteCount(r.Bytes),
			plural(r.Forgot, "body", "bodies"))
	default:
		a.say("%s to %s: %s", verb, name, byteCount(r.Bytes))
	}
	return nil
}

// shareHint says that nothing is shared, where that is so.
func (a *app) shareHint(s *session.Store, name string) string {
	set, err := s.Remotes()
	if err != nil {
		return ""
	}
	text := shareText(set.Remotes[name])
	if text == "none" {
		return fmt.Sprintf(
			": no session is shared with it; `ctx config set remote.%s.share all` shares all", name)
	}
	rule, err := sharing.ParseRule(text)
	view, viewErr := s.Refs.Read()
	if err != nil || viewErr != nil {
		return ""
	}
	list, err := s.Recall.Sessions(view)
	if err != nil || slices.ContainsFunc(list,
		func(e sessions.Session) bool { return rule.Shares(e.Name) }) {
		return ""
	}
	return fmt.Sprintf(": remote.%s.share is %q, and no session is named so", name, text)
}

// errHeld says that sessions were held back, errHeldClusters that clusters were.
var (
	errHeld         = errors.New("sessions were held back")
	errHeldClusters = errors.New("clusters were held back")
)

const heldHint = "`ctx forget ID` erases a text, also a lost one; " +
	"`ctx config set remote.%s.allow ID,…` lets a secret leave"

// mostFindings is how many findings of a session are told; --json has all.
const mostFindings = 5

// heldBack returns an error where sessions were held back, and tells of their findings.
func (a *app) heldBack(name string, r sharing.PushReport) error {
	held := 0
	for _, p := range r.Sessions {
		if !p.Held() {
			continue
		}
		held++
		if a.json {
			continue
		}
		a.say("held back: %s: %s", oneLine(p.Name), plural(len(p.Findings), "finding", "findings"))
		a.sayFindings(p.Findings)
	}
	if len(r.Findings) > 0 && !a.json {
		a.say("held back: clusters: %s", plural(len(r.Findings), "finding", "findings"))
		a.sayFindings(r.Findings)
	}
	switch {
	case held == 0 && len(r.Findings) == 0:
		return nil
	case held == 0:
		return withHint(errHeldClusters, heldHint, name)
	}
	return withHint(fmt.Errorf("%w: %d of %d", errHeld, held, len(r.Sessions)),
		heldHint, name)
}

// sayFindings tells of the first findings.
func (a *app) sayFindings(list []forget.Secret) {
	for i, f := range list {
		if i == mostFindings {
			a.say("  and %d more", len(list)-i)
			break
		}
		a.say("  %v %s %s %d-%d", f.ID, f.Kind, f.Class, f.From, f.To)
	}
}

// byteCount returns a number of bytes for people.
func byteCount(n int64) string {
	switch {
	case n < 1000:
		return plural(int(n), "byte", "bytes")
	case n < 1000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
