package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/capture"
	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/window"
)

func newStatusCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say how the store and its current session are",
		Long: long(`Says where the store is, how many sessions and clusters it has, and of the session that HEAD names how far its messages went: into
clusters, into what is rendered as clusters, and how many wait to graduate.`, exitNoStore, exitCorrupt),
		Example: "  ctx status\n  ctx status --json",
		Args:    between(0, 0),
		RunE: func(*cobra.Command, []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			d, err := document.StatusOf(s, view)
			if err != nil {
				return err
			}
			hooks, err := hooksOf(s)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					document.Status
					hookStatus
				}{d, hooks})
			}
			printStatus(a, d, hooks)
			return nil
		},
	}
}

// hookStatus is how the hooks of agents fare.
type hookStatus struct {
	Hook     *lastHook `json:"hook"`     // the last one that ran; null where none is known
	Troubles int       `json:"troubles"` // what hooks could not do, as far as the log goes back
	Trouble  *string   `json:"trouble"`  // the last of it
}

type lastHook struct {
	Agent   string `json:"agent"`
	Event   string `json:"event"`
	Session string `json:"session"`
	Time    string `json:"time"`
}

func hooksOf(s *session.Store) (h hookStatus, err error) {
	if l, ok := capture.LastHook(s, capture.GeminiCLI); ok {
		h.Hook = &lastHook{Agent: capture.GeminiCLI, Event: l.Event, Session: l.Session, Time: format.FormatTime(l.Time)}
	}
	list, err := capture.Troubles(s.Dir)
	if err != nil || len(list) == 0 {
		return h, err
	}
	last := list[len(list)-1]
	text := fmt.Sprintf("%s %s: %s", format.FormatTime(last.Time), last.Event, last.Problem)
	h.Troubles, h.Trouble = len(list), &text
	return h, nil
}

func printStatus(a *app, d document.Status, hooks hookStatus) {
	a.line("store %s", d.Store)
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
		a.line("the log ends in %d bytes of an operation that was never finished; the next change puts them aside", d.Torn)
	}
	if hooks.Hook != nil {
		a.line("last hook of %s: %s at %s", hooks.Hook.Agent, oneLine(hooks.Hook.Event), hooks.Hook.Time)
	}
	if hooks.Trouble != nil {
		a.line("hooks could not do everything, %s; the last: %s", plural(hooks.Troubles, "time", "times"), oneLine(*hooks.Trouble))
	}
	if d.Ignore != nil {
		a.say("hint: outside git, add this line to .geminiignore so that the agent does not search the store: %s", *d.Ignore)
	}
}
