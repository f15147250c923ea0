package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/refs"
)

// statusDocument is the state of a store and its current session.
type statusDocument struct {
	Store      string         `json:"store"`
	Allowed    bool           `json:"allowed"` // made or allowed on this machine
	ID         string         `json:"id"`
	Head       *string        `json:"head"`
	Sessions   int            `json:"sessions"`
	Messages   uint64         `json:"messages"` // of all branches, each counted once
	Live       int            `json:"live"`     // clusters
	Dirty      int            `json:"dirty"`    // of these, without a summary of all of it
	Tombstones uint64         `json:"tombstones"`
	Operation  uint64         `json:"operation"` // the newest
	Torn       int64          `json:"torn"`      // bytes of an operation that was never finished
	Branches   []statusBranch `json:"branches"`  // of HEAD's session
	Ignore     *string        `json:"ignore"`    // a line that .geminiignore should have
	// Drift is what transcripts have of kinds that ctx does not know.
	Drift []importer.Drift `json:"drift"`
	// Unpushed counts the messages that no push has brought to a remote, by its name.
	Unpushed map[string]int `json:"unpushed"`
	hooksDocument

	list []sessions.Overview
}

// statusBranch is a branch of the current session.
type statusBranch struct {
	document.Branch
	Lag uint64 `json:"lag"` // messages that left the window and wait to graduate
}

// statusOf reads the state of a store.
func statusOf(c context.Context, s *session.Store, view *refs.View) (statusDocument, error) {
	d := statusDocument{Unpushed: map[string]int{},
		Store: s.Dir, ID: s.ID, Head: document.OrNull(view.Get("HEAD").Name),
		Operation: view.Number,
		Torn:      view.Torn,
		Branches:  []statusBranch{}, Ignore: document.OrNull(s.IgnoreAdvice()),
		Drift: s.Importer.Drifts(),
	}
	d.Allowed, _ = s.Allowed() // a store without its key has other troubles
	set, _ := s.Remotes()      // the commands that use one say what is wrong
	for name, r := range set.Remotes {
		rule, _ := sharing.ParseRule(r.Share) // that shares nothing
		if n := sharing.Unpushed(c, s.Opened, view, name, rule); n > 0 {
			d.Unpushed[name] = n
		}
	}
	list, err := s.Recall.Overviews(view)
	if err == nil {
		err = s.Recall.CountOnce(view, list)
	}
	if err != nil {
		return d, err
	}
	d.list = list
	d.Sessions = len(list)
	for _, one := range list {
		session := document.SessionOf(one.Session)
		d.Messages += session.Own()
		for _, b := range session.Branches {
			if one.Head {
				d.Branches = append(d.Branches,
					statusBranch{b, lag(b, uint64(s.Config.Window.GraduateAt))})
			}
		}
	}
	st, err := s.History.Forest(view)
	if err != nil && s.History.PassedDamage() {
		st, err = s.History.ReadForest(format.ID{}) // a repair makes the clusters again
	}
	if err != nil {
		return d, err
	}
	for _, c := range st.Live() {
		d.Live++
		if c.Dirty() {
			d.Dirty++
		}
	}
	if _, d.Tombstones, err = st.NewestEvicted(0); err == nil {
		d.hooksDocument, err = hooksOf(s, view)
	}
	return d, err
}

func lag(b document.Branch, window uint64) uint64 {
	if b.Seq <= b.Frontier+window {
		return 0
	}
	return b.Seq - b.Frontier - window
}

// hooksDocument is the state of an agent's hooks.
type hooksDocument struct {
	Hook     *hookDocument  `json:"hook"`     // the last one that ran; null where none is known
	Last     []hookDocument `json:"hooks"`    // the last one of each agent that has called one
	Troubles int            `json:"troubles"` // of hooks, as far as the log goes back
	Trouble  *string        `json:"trouble"`  // the last of it
	// Removed are sessions that go on and were removed: hooks leave them out.
	Removed []string `json:"removed"`
}

// hookDocument is one run of a hook.
type hookDocument struct {
	Agent   string `json:"agent"`
	Event   string `json:"event"`
	Session string `json:"session"`
	Time    string `json:"time"`
}

func hooksOf(s *session.Store, view *refs.View) (h hooksDocument, err error) {
	h.Last, h.Removed = []hookDocument{}, []string{}
	var newest time.Time
	for _, agent := range hooks.Agents() {
		l, ok := hooks.LastHook(s, agent.Name)
		if !ok {
			continue
		}
		h.Last = append(h.Last,
			hookDocument{Agent: agent.Name, Event: l.Event, Session: l.Session,
				Time: document.TimeText(l.Time)})
		if h.Hook == nil || l.Time.After(newest) {
			last := h.Last[len(h.Last)-1]
			h.Hook, newest = &last, l.Time
		}
	}
	list, err := hooks.Troubles(s.Dir)
	list, removed := hooks.Failures(list)
	for _, session := range removed {
		if len(view.Names("sessions/"+session+"/")) == 0 {
			h.Removed = append(h.Removed, session)
		}
	}
	if err != nil || len(list) == 0 {
		return h, err
	}
	last := list[len(list)-1]
	text := fmt.Sprintf("%s %s: %s", document.TimeText(last.Time), last.Event, last.Problem)
	h.Troubles, h.Trouble = len(list), &text
	return h, nil
}
