package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/spf13/cobra"
)

func newStatusCmd(a *app) *cobra.Command {
	everywhere := false
	cmd := a.newCmd("status", func([]string) error {
		if everywhere {
			return a.statusEverywhere()
		}
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		return a.status(s, view)
	})
	everywhereFlag(cmd, &everywhere, "say what is recorded")
	return cmd
}

func (a *app) status(s *session.Store, view *refs.View) error {
	d, err := statusOf(a.c, s, view)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(d)
	}
	st := &statusPrinter{a: a, d: &d, by: recordedBy(d.list), shield: s.Shielded()}
	_, st.refused = s.Allowed()
	st.aside, _ = store.SetAsides(s.Dir) // fsck says why they cannot be looked for
	if st.chosen, err = s.Recall.HeadChosen(view, d.list); err != nil {
		return err
	}
	st.recorded()
	st.current()
	st.troubles()
	st.next(a.projectDir(s))
	return nil
}

// statusEverywhere prints a line for each project of this user, the one with the newest message
// first.
func (a *app) statusEverywhere() error {
	places, err := a.everywhere()
	if err != nil {
		return err
	}
	type counted struct {
		d    statusDocument
		last time.Time
	}
	all, err := ofAll(a, places, func(p *place) ([]counted, error) {
		d, err := statusOf(a.c, p.s, p.view)
		if err != nil {
			return nil, err
		}
		list, err := p.s.Recall.Overviews(p.view)
		one := counted{d: d}
		if len(list) > 0 {
			one.last = list[0].Last // of the newest
		}
		return []counted{one}, err
	}, func(x, y counted) int { return x.last.Compare(y.last) })
	if err != nil {
		return err
	}
	l := a.listing("PROJECT", "SESSIONS", "MESSAGES", "NEWEST", "", "IN")
	for _, one := range all {
		a.enter(one.place)
		newest := "–"
		if !one.T.last.IsZero() {
			newest = a.ago(one.T.last)
		}
		trouble := ""
		if one.T.d.Trouble != nil {
			trouble = "hooks failed"
		}
		l.add(fields(one.T.d), oneLine(one.place.name), fmt.Sprint(one.T.d.Sessions),
			fmt.Sprint(one.T.d.Messages), newest, trouble, oneLine(one.place.dir))
	}
	return l.print()
}

// statusPrinter prints a status for a person, a part after the other.
type statusPrinter struct {
	a  *app
	d  *statusDocument
	by []recordedAgent

	chosen  bool // HEAD stays where somebody has put it
	shield  repo.Shield
	refused error // why it is not known whether the store is allowed

	aside []store.SetAside
}

// line prints a line, broken where a terminal has no room for it.
func (st *statusPrinter) line(format string, args ...any) {
	st.a.line("%s", strings.TrimSuffix(st.a.fitted(fmt.Sprintf(format, args...)+"\n"), "\n"))
}

// recordedAgent is what a store has of an agent; name is "" for messages of no agent.
type recordedAgent struct {
	name               string
	sessions, messages int
	last               time.Time
}

// recordedBy counts the sessions of each agent, the one with the newest message first. The list has
// the newest session first.
func recordedBy(list []sessions.Overview) (out []recordedAgent) {
	at := map[string]int{}
	for i := range list {
		o := &list[i]
		k, seen := at[o.Agent]
		if !seen {
			k, at[o.Agent] = len(out), len(out)
			out = append(out, recordedAgent{name: agentNamed(o.Agent), last: o.Last})
		}
		out[k].sessions++
		out[k].messages += int(document.SessionOf(o.Session).Own())
	}
	return out
}

// mostAgents is the largest number of agents that have lines of their own.
const mostAgents = 5

// recorded says what the store has, and from whom.
func (st *statusPrinter) recorded() {
	a, d := st.a, st.d
	st.line("store %s", oneLine(d.Store))
	st.line("%s, %s", plural(d.Sessions, "session", "sessions"),
		plural(int(d.Messages), "message", "messages"))
	for i, one := range st.by {
		if i == mostAgents {
			st.line("  and of %s more", plural(len(st.by)-i, "agent", "agents"))
			break
		}
		name := cmp.Or(one.name, "no agent (ctx append)")
		text := plural(one.sessions, "session", "sessions") + ", " +
			plural(one.messages, "message", "messages")
		if !one.last.IsZero() {
			text += ", the newest " + a.ago(one.last)
		}
		st.line("  %s: %s", name, text)
	}
	if d.Live > 0 || d.Tombstones > 0 {
		text := fmt.Sprintf("%s of older messages: %d summarized, %d not yet",
			plural(d.Live, "cluster", "clusters"), d.Live-d.Dirty, d.Dirty)
		if d.Tombstones > 0 {
			text += fmt.Sprintf("; %d more shown as one line each", d.Tombstones)
		}
		st.line("%s", text)
	}
}

// current says what the session that HEAD names is.
func (st *statusPrinter) current() {
	a, d := st.a, st.d
	i := slices.IndexFunc(st.d.list, func(o sessions.Overview) bool { return o.Head })
	if i < 0 {
		return
	}
	o := &st.d.list[i]
	head := "current session " + oneLine(shortNames(st.d.list)[o.Name]) + ": "
	st.line("%s%s", head, cutWidth(a.sessionTitle(o), a.lineWidth()-displaywidth.String(head)-2))
	if st.chosen {
		st.line("  chosen by `ctx session use`: HEAD does not follow to where somebody spoke since")
	}
	st.line("  %s", a.sessionDetails(o, 0))
	for _, b := range d.Branches {
		if len(d.Branches) > 1 || b.Through > 0 {
			st.line("  %s: %s; the first %d are rendered as clusters, %d word for word", b.Name,
				plural(int(b.Seq), "message", "messages"), b.Through, b.Tail)
		}
		if b.Open {
			st.line("  %s: an open child: nothing of it graduates before `ctx branch join`", b.Name)
		} else if b.Lag > history.MaxPiece { // an exchange that is not over yet waits for its end
			st.line("  %s: %s left the window and wait to graduate: `ctx graduate`", b.Name,
				plural(int(b.Lag), "message", "messages"))
		}
	}
}

// mostRemoved is the largest number of removed sessions that have lines of their own.
const mostRemoved = 3

// troubles says what hooks did last, and what went wrong.
func (st *statusPrinter) troubles() {
	a, d := st.a, st.d
	for _, name := range slices.Sorted(maps.Keys(d.Unpushed)) {
		st.line("%s not pushed to %s", plural(d.Unpushed[name], "message", "messages"), name)
	}
	if d.Torn > 0 {
		st.line(
			"the log ends in %d bytes of an unfinished operation; the next change sets them aside",
			d.Torn)
	}
	for _, one := range st.aside {
		st.line("%s: `ctx doctor` says what to do", oneLine(one.String()))
	}
	if !d.Allowed {
		st.line("%s", oneLine(notAllowed(st.refused)))
	}
	if st.shield == repo.Bare || st.shield == repo.InLinked {
		st.line("%s", shieldText(st.shield))
	}
	for _, h := range d.Last {
		st.line("last hook of %s: %s at %s", h.Agent, oneLine(h.Event), h.Time)
	}
	if len(d.Drift) > 0 {
		st.line("%s", oneLine(importer.DriftText(d.Drift)))
	}
	if d.Trouble != nil {
		st.line("hooks failed %s; the last failure: %s", plural(d.Troubles, "time", "times"),
			oneLine(*d.Trouble))
	}
	for _, session := range d.Removed[:min(len(d.Removed), mostRemoved)] {
		st.line("hooks leave a session out: %s",
			oneLine((&importer.RemovedError{Session: session}).Error()))
	}
	if more := len(d.Removed) - mostRemoved; more > 0 {
		st.line("hooks leave out %s more that were removed: `ctx status --json` names them",
			plural(more, "session", "sessions"))
	}
	if d.Ignore != nil {
		a.say(
			"hint: outside git, add this line to .geminiignore so that the agent does not search "+
				"the store: %s", *d.Ignore)
	}
}

// next says what to do next in the project in dir.
func (st *statusPrinter) next(dir string) {
	a, d := st.a, st.d
	doctor := hooks.Doctor{Project: dir, Home: a.agentHome(), Getenv: a.getenv, UserHome: a.home}
	if d.Sessions == 0 {
		st.line("next: `ctx import --all` brings what agents have of this project")
		i := slices.IndexFunc(hooks.Agents(),
			func(g hooks.Agent) bool { return doctor.Installed(&g) })
		switch {
		case len(d.Last) > 0:
		case i < 0:
			st.line("next: `ctx install` records each turn as it is said")
		default:
			st.line("no hook has run yet; if something was said to %s: `ctx doctor` says why",
				hooks.Agents()[i].Title)
		}
		return
	}
	var without []string // agents that have sessions here, and no hooks
	for _, one := range st.by {
		agent, ok := hooks.AgentNamed(one.name)
		if ok &&
			!slices.ContainsFunc(d.Last,
				func(h hookDocument) bool { return h.Agent == agent.Name }) &&
			!doctor.Installed(&agent) {
			without = append(without, agent.Name)
		}
	}
	switch len(without) {
	case 0:
	case 1:
		st.line("next: `ctx install %s` records each turn as it is said", without[0])
	default:
		st.line("next: `ctx install` records each turn of %s as it is said", wordsAnd(without))
	}
	if d.Dirty > 0 {
		st.line("next: `ctx compact --all` summarizes what is old")
	}
}
