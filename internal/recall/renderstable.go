package recall

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

// StableInput reads what a stable rendering of a branch under a budget is made of: the branch as it
// was at the newest leave (view.Leave), and what was said since. It has no lines of other sessions,
// which would change beside it. What was edited since a leave shows as it was until the next one.
func (s *Reader) StableInput(
	v *refs.View, session, branch string, o view.Options,
) (view.Input, error) {
	value, err := history.Tip(v, session, branch)
	if err != nil {
		return view.Input{Session: session, Branch: branch}, err
	}
	defer s.Nearby(cache.NearName(session, branch))()
	name := history.BranchName{Session: session, Branch: branch}
	tip, err := s.Header(value.ID)
	if err != nil {
		return view.Input{}, err
	}
	recent, err := s.ReadFacts(name, value.ID, s.DigestBorder(value, tip), false)
	if err != nil {
		return view.Input{}, err
	}
	if recent.Agent { // its facts stand for the pin, which moves every few messages
		value.Pin, value.Through, value.Frontier = format.ID{}, 0, 0
	}
	list, _, err := s.readMessages(value, value.Through, 0)
	if err != nil {
		return view.Input{}, err
	}
	own, err := s.ownSince(value)
	if err != nil {
		return view.Input{}, err
	}
	w, err := s.ReadFacts(name, value.ID, value.Through, true)
	if err != nil {
		return view.Input{}, err
	}
	list = list[:view.Answered(list)]
	at := view.Leave(list, w.After, o, func(id format.ID) bool { return own[id] })
	if at >= 0 && own[list[at].ID] {
		value.ID, value.Frontier = list[at].ID, min(value.Frontier, list[at].Seq)
	}
	o.Budget -= o.Budget / 2
	in, err := s.RenderInputOf(v, value, session, branch, o)
	in.Growth = &view.Growth{Messages: list[at+1:], Facts: w.After}
	return in, err
}

// ownSince returns the messages of a branch's own line after its pin, without those of joins.
func (s *Reader) ownSince(v format.Value) (map[format.ID]bool, error) {
	own := map[format.ID]bool{}
	for e, err := range s.Walk(v.ID, history.WithJoined) {
		if err != nil {
			return nil, err
		}
		if e.Kind == format.KindMessage && e.Seq <= v.Through {
			break
		}
		own[e.ID] = !e.Joined
	}
	return own, nil
}
