package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/window"
	"github.com/gemini-ctx/ctx/refs"
)

func newStatusCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the state of the store and its current session",
		Long: long(`Shows the path of the store, and how many sessions, messages and clusters it has. For each
branch of the session that HEAD names, the command shows how many messages are rendered as
clusters, how many word for word, and how many wait to graduate.`, exitNoStore, exitCorrupt),
		Example: "  ctx status\n  ctx status --json",
		Args:    between(0, 0),
		RunE: a.onView(func(s *session.Store, view *refs.View, _ []string) error {
			d, err := document.StatusOf(s, view)
			if err != nil {
				return err
			}
			if a.json {
				return a.answer(d)
			}
			printStatus(a, d)
			return nil
		}),
	}
}

func printStatus(a *app, d document.Status) {
	a.line("store %s", oneLine(d.Store))
	a.line("%s, %s", plural(d.Sessions, "session", "sessions"), plural(int(d.Messages), "message", "messages"))
	a.line("%s, %d without a full summary; %s", plural(d.Live, "cluster", "clusters"), d.Dirty, plural(int(d.Tombstones), "tombstone", "tombstones"))
	if d.Head != nil {
		a.line("session %s", *d.Head)
	}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	for _, b := range d.Branches {
		a.line("  %s: %s; the first %s are rendered as clusters, %s word for word", b.Name, plural(int(b.Seq), "message", "messages"), number(b.Through), number(b.Tail))
		if b.Open {
			a.line("  %s: an open child: nothing of it graduates before `ctx branch join`", b.Name)
		} else if b.Lag > window.MaxPiece { // an exchange that is not over yet waits for its end
			a.line("  %s: %s left the window and wait to graduate: `ctx graduate`", b.Name, plural(int(b.Lag), "message", "messages"))
		}
	}
	if d.Torn > 0 {
		a.line("the log ends in %d bytes of an unfinished operation; the next change sets them aside", d.Torn)
	}
	for _, h := range d.Last {
		a.line("last hook of %s: %s at %s", h.Agent, oneLine(h.Event), h.Time)
	}
	for _, one := range d.Drift {
		a.line("%s", oneLine(one.String()))
	}
	if d.Trouble != nil {
		a.line("hooks failed %s; the last failure: %s", plural(d.Troubles, "time", "times"), oneLine(*d.Trouble))
	}
	if d.Ignore != nil {
		a.say("hint: outside git, add this line to .geminiignore so that the agent does not search the store: %s", *d.Ignore)
	}
}
