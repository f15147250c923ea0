// Package usage counts what a store holds: sessions, messages and tokens, by week and by agent,
// what compaction saved, how often files were changed, and what the calls of models took.
//
// It promises to read only, and to count each message once, in the session in which it was said.
// Begin with Count.
package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/when"
	"github.com/gemini-ctx/ctx/refs"
)

// Options say what to count.
type Options struct {
	Session string       // only this session; "" for all
	Within  when.Span    // only messages that were said then; the zero Span for all
	Files   bool         // also count changes of files, which reads every call of a tool
	Cost    bool         // also count what calls of models took, which reads every message
	Prices  []repo.Price // of the user, before those that come with ctx
}

// Report is what Count returns. Tokens are an estimate: a quarter of the bytes of what was said,
// calls and outputs of tools included.
type Report struct {
	Sessions    int            `json:"sessions"`
	Subagents   int            `json:"subagents"` // sessions among them that work for another one
	Messages    int            `json:"messages"`
	Roles       map[string]int `json:"roles"`
	Tokens      int64          `json:"tokens"`
	First, Last time.Time      `json:"-"`
	Compacted   Compacted      `json:"compacted"`
	Weeks       []Row          `json:"weeks"`  // oldest first
	Agents      []Row          `json:"agents"` // most messages first
	Files       []File         `json:"files,omitempty"`
	Spent       []Spent        `json:"spent,omitempty"` // the model that took most first
}

// Compacted says what the contexts of the sessions' main branches leave out.
type Compacted struct {
	Messages  int   `json:"messages"`  // that are rendered as parts of clusters
	Tokens    int64 `json:"tokens"`    // of these messages
	Summaries int64 `json:"summaries"` // tokens of the summaries that stand for them
}

// Row is the part of a week, or of an agent.
type Row struct {
	Name     string `json:"name"` // of a week the ISO 8601 one, as 2026-W05, in UTC; of no agent ""
	Sessions int    `json:"sessions"`
	Messages int    `json:"messages"`
	Tokens   int64  `json:"tokens"`

	last string // session that was counted last
}

// File is how often a file was changed by calls of tools.
type File struct {
	Path     string `json:"path"`
	Changes  int    `json:"changes"`
	Sessions int    `json:"sessions"`

	last string
}

// bytesPerToken is the estimate that English and code have in common.
const bytesPerToken = 4

// Tokens returns about how many tokens so many bytes of what was said are.
func Tokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

// Store is a store to count, as of a view of its refs.
type Store struct {
	Reader  *recall.Reader
	View    *refs.View
	Project string // files in this directory are named from there
}

// Count counts what stores have, each message once. What a rewind has left is not counted.
func Count(c context.Context, o Options, stores ...Store) (*Report, error) {
	n := &counter{c: c, o: o, r: &Report{Roles: map[string]int{}}, weeks: map[string]*Row{},
		agents: map[string]*Row{},
		files:  map[string]*File{}, seen: map[format.ID]bool{}, sources: map[format.Source]bool{},
		calls: map[string]call{}}
	for _, of := range stores {
		n.s, n.project = of.Reader, of.Project
		list, err := n.s.Overviews(of.View)
		slices.SortStableFunc(list, func(a, b sessions.Overview) int { // those of this store first
			return cmp.Or(cmp.Compare(a.Also, b.Also), cmp.Compare(a.Name, b.Name))
		})
		for i := 0; i < len(list) && err == nil; i++ {
			if o.Session != "" && list[i].Name != o.Session {
				continue
			}
			if err = n.session(&list[i]); n.s.PassOver(list[i].Name, err) {
				err = nil
			}
		}
		if err == nil {
			err = n.summaries(of.View)
		}
		if err != nil {
			return nil, err
		}
	}
	n.r.Weeks, n.r.Agents = rows(n.weeks), rows(n.agents)
	slices.SortStableFunc(n.r.Agents,
		func(a, b Row) int { return cmp.Compare(b.Messages, a.Messages) })
	n.r.Files, n.r.Spent = n.sortedFiles(), n.spent()
	return n.r, nil
}

// counter counts one message after the other.
type counter struct {
	c context.Context
	s *recall.Reader // of the store that is counted
	o Options

	project string
	r       *Report
	weeks   map[string]*Row
	agents  map[string]*Row
	files   map[string]*File
	seen    map[format.ID]bool // entries, which forked sessions share
	// sources are those of the messages of the stores' own sessions.
	sources map[format.Source]bool
	calls   map[string]call // by their agent and name
	origin  string          // where the session that is counted comes from, its forks too
	// nameless are the calls whose model an older message names.
	nameless []string
}

// session counts a session. One without a message in the time that was asked for does not count,
// nor what a session of another store has from the same transcript.
func (n *counter) session(one *sessions.Overview) error {
	before := n.r.Messages
	n.origin = one.Origin
	for _, b := range one.Branches {
		through := uint64(0)
		if b.Name == history.MainBranch {
			through = b.Value.Through
		}
		n.nameless = nil
		for e, err := range n.s.Walk(b.Value.ID, history.WithJoined) {
			if err = cmp.Or(err, n.c.Err()); err != nil {
				return err
			}
			if n.seen[e.ID] {
				continue // a branch stands on what another one has counted
			}
			n.seen[e.ID] = true
			if e.Source != nil {
				source := *e.Source
				source.Digest = "" // by the key of a store
				if one.Also != "" && n.sources[source] {
					continue
				}
				n.sources[source] = n.sources[source] || one.Also == ""
			}
			if !n.o.Within.Has(e.Time) {
				continue
			}
			if n.o.Cost {
				if err := n.spend(e); err != nil {
					return err
				}
			}
			if e.Kind != format.KindMessage {
				continue
			}
			if err := n.message(one.Name, e, e.Seq <= through); err != nil {
				return err
			}
		}
	}
	if n.r.Messages > before || n.o.Within.IsZero() && one.Also == "" {
		n.r.Sessions++
		if one.Parent != nil {
			n.r.Subagents++
		}
	}
	return nil
}

// message counts a message of a session.
func (n *counter) message(session string, e history.Entry, compacted bool) error {
	tokens := int64(0)
	if e.Body != nil {
		tokens = Tokens(e.Body.Size)
	}
	n.r.Messages++
	n.r.Roles[e.Role]++
	n.r.Tokens += tokens
	if compacted {
		n.r.Compacted.Messages++
		n.r.Compacted.Tokens += tokens
	}
	if n.r.First.IsZero() || e.Time.Before(n.r.First) {
		n.r.First = e.Time
	}
	if e.Time.After(n.r.Last) {
		n.r.Last = e.Time
	}
	year, week := e.Time.UTC().ISOWeek()
	agent := ""
	if e.Source != nil {
		agent = e.Source.Agent
	}
	add(n.weeks, fmt.Sprintf("%04d-W%02d", year, week), session, tokens)
	add(n.agents, agent, session, tokens)
	if n.o.Files {
		return n.changes(session, e)
	}
	return nil
}

// add counts a message in a row.
func add(list map[string]*Row, name, session string, tokens int64) {
	r := list[name]
	if r == nil {
		r = &Row{Name: name}
		list[name] = r
	}
	if r.Messages == 0 || r.last != session {
		r.Sessions, r.last = r.Sessions+1, session
	}
	r.Messages++
	r.Tokens += tokens
}

// rows returns the rows of a map, sorted by name.
func rows(list map[string]*Row) []Row {
	out := make([]Row, 0, len(list))
	for _, r := range list {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Row) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// summaries counts the summaries of the clusters of which the sessions said the newest member then.
func (n *counter) summaries(view *refs.View) error {
	list, err := n.s.Clusters(view)
	if err != nil {
		return err
	}
	for i := range list {
		of := list[i].First
		if n.o.Session != "" && (of == nil || of.Session != n.o.Session) {
			continue
		}
		if last := list[i].Last; !n.o.Within.IsZero() &&
			(last == nil || !n.o.Within.Has(last.Time)) {
			continue
		}
		size := int64(len(list[i].Line))
		if list[i].Tombstone.IsZero() {
			text, _, err := n.s.CoversText(list[i].Covers, wholeSummary)
			if err != nil {
				return err
			}
			size = int64(len(text))
		}
		n.r.Compacted.Summaries += Tokens(size)
	}
	return nil
}

// wholeSummary is more tokens than a summary has.
const wholeSummary = 1 << 20
