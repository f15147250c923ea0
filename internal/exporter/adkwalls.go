package exporter

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// addWalled adds to the conversation of a session what an import of ADK put into its open branches
// and into the sessions of its scopes, at the times at which it was said.
func (c *Conversation) addWalled(v *refs.View, session string) error {
	known := map[format.ID]bool{}
	for i := range c.all {
		known[c.all[i].id] = true
	}
	of, err := c.s.Forks(v)
	if err != nil {
		return err
	}
	list := c.all
	for _, name := range of[session] {
		if list, err = c.addLine(v, list, known, history.BranchName{Session: name,
			Branch: history.MainBranch}); err != nil {
			return err
		}
	}
	for _, ref := range v.Names("sessions/" + session + "/") {
		_, branch, ok := history.BranchOfRef(ref)
		if !ok || branch == history.MainBranch {
			continue
		}
		if list, err = c.addLine(v, list, known, history.BranchName{Session: session,
			Branch: branch}); err != nil {
			return err
		}
	}
	c.settle(inTurn(list))
	return nil
}

// ofEvent reports whether an entry came as an event.
func (p *placed) ofEvent() bool {
	return p.source != nil && (p.source.Agent == adk.Agent || p.source.Agent == transcript.Own) &&
		!adk.IsSession(transcript.Origin{Agent: p.source.Agent, Message: p.source.Message})
}

// addLine adds the entries of another branch, if any of them came as an event.
func (c *Conversation) addLine(
	v *refs.View, list []placed, known map[format.ID]bool, b history.BranchName,
) ([]placed, error) {
	tip := v.Get(history.RefName(b.Session, b.Branch)).ID
	path := []string{b.Session}
	apart := b.Branch == history.MainBranch
	if !apart {
		var err error
		if path, err = c.s.pathOf(v, b.Session, b.Branch, tip); err != nil || path == nil {
			return list, err
		}
	}
	w := &conversationWalk{lanes: lanes{at: map[format.ID][]string{tip: path}},
		newer: map[format.ID]placed{}}
	if err := w.walk(c.s, tip, known); err != nil {
		return list, err
	}
	if !slices.ContainsFunc(w.list, func(p placed) bool { return p.ofEvent() }) {
		return list, nil
	}
	for _, p := range w.list {
		p.apart, known[p.id] = apart, true
		list = append(list, p)
	}
	return list, nil
}

// inTurn moves what ADK said in branches and scopes to where it was said: before what others said
// later. Nothing moves before what it follows in its own place.
func inTurn(list []placed) (out []placed) {
	for _, p := range list {
		at := len(out)
		for i := at - 1; len(p.path) > 0 && i >= 0; i-- {
			before := &out[i]
			if before.id == p.parent {
				if !p.isSaid() {
					at = i + 1 // a fork or a join, whose time is that of an import
				}
				break
			}
			if !p.ofEvent() || !before.ofEvent() {
				continue
			}
			if !before.when.After(p.when) || slices.Equal(before.path, p.path) {
				break
			}
			at = i
		}
		out = slices.Insert(out, at, p)
	}
	return out
}
