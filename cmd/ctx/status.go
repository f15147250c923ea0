package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/refs"
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
			d, err := statusOf(s, view)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(d)
			}
			printStatus(a, d)
			return nil
		},
	}
}

type statusDoc struct {
	V          int            `json:"v"`
	Store      string         `json:"store"`
	ID         string         `json:"id"`
	Head       *string        `json:"head"`
	Sessions   int            `json:"sessions"`
	Messages   uint64         `json:"messages"` // of all branches, shared ones counted for each
	Live       int            `json:"live"`     // clusters
	Dirty      int            `json:"dirty"`    // of these, without a summary of all of it
	Tombstones uint64         `json:"tombstones"`
	Operation  uint64         `json:"operation"` // the newest
	Torn       int64          `json:"torn"`      // bytes of an operation that was never finished
	Branches   []statusBranch `json:"branches"`  // of HEAD's session
	Ignore     *string        `json:"ignore"`    // a line that .geminiignore should have
}

type statusBranch struct {
	branchDoc
	Lag uint64 `json:"lag"` // messages that left the window and wait to graduate
}

func statusOf(s *session.Store, view *refs.View) (statusDoc, error) {
	d := statusDoc{
		V: 1, Store: s.Dir, ID: s.ID, Head: orNull(view.Get("HEAD").Name), Operation: view.Number, Torn: view.Torn,
		Branches: []statusBranch{}, Ignore: orNull(s.IgnoreAdvice()),
	}
	list, err := s.Sessions(view)
	if err != nil {
		return d, err
	}
	d.Sessions = len(list)
	for _, one := range list {
		for _, b := range sessionDocOf(one).Branches {
			d.Messages += b.own
			if one.Head {
				d.Branches = append(d.Branches, statusBranch{b, lag(b, uint64(s.Config.Window.GraduateAt))})
			}
		}
	}
	st, err := s.Forest(view)
	if err != nil {
		return d, err
	}
	for _, c := range st.Live() {
		d.Live++
		if c.Dirty() {
			d.Dirty++
		}
	}
	_, d.Tombstones, err = st.NewestEvicted(0)
	return d, err
}

func lag(b branchDoc, window uint64) uint64 {
	if b.Seq <= b.Frontier+window {
		return 0
	}
	return b.Seq - b.Frontier - window
}

func printStatus(a *app, d statusDoc) {
	a.line("store %s", d.Store)
	a.line("%s, %s", plural(d.Sessions, "session", "sessions"), plural(int(d.Messages), "message", "messages"))
	a.line("%s, %d without a full summary; %s", plural(d.Live, "cluster", "clusters"), d.Dirty, plural(int(d.Tombstones), "tombstone", "tombstones"))
	if d.Head != nil {
		a.line("session %s", *d.Head)
	}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	for _, b := range d.Branches {
		a.line("  %s: %s; the first %s are rendered as clusters, %s word for word", b.Branch, plural(int(b.Seq), "message", "messages"), number(b.Through), number(b.Tail))
		if b.Open {
			a.line("  %s: an open child: nothing of it graduates before `ctx branch join`", b.Branch)
		} else if b.Lag > window.MaxPiece { // an exchange that is not over yet waits for its end
			a.line("  %s: %s left the window and wait to graduate: `ctx graduate`", b.Branch, plural(int(b.Lag), "message", "messages"))
		}
	}
	if d.Torn > 0 {
		a.line("the log ends in %d bytes of an operation that was never finished; the next change puts them aside", d.Torn)
	}
	if d.Ignore != nil {
		a.say("hint: outside git, add this line to .geminiignore so that the agent does not search the store: %s", *d.Ignore)
	}
}
