package sharing

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// maxParents limits how many sessions of another store may work for one another in a chain.
const maxParents = 64

// parents returns for which sessions shared ones work, where that is not told yet. The name of a
// session that stays does not leave with the one that works for it.
func (x *Sharer) parents(
	view *refs.View, base *published, p *share.Push,
) (list []share.Parent, err error) {
	leaves := map[string]bool{}
	for b := range base.tips {
		leaves[b.Session] = true
	}
	for _, b := range p.Branches {
		leaves[b.Session] = true
	}
	for _, session := range sessionsOf(view) {
		if !leaves[session] || !x.o.Rule.Shares(session) {
			continue
		}
		of, ok, err := x.s.History.ParentOf(view, session)
		if err != nil {
			return nil, err
		}
		one := share.Parent{Session: session, Of: of.Session, Call: of.Call}
		if !ok || one == base.parent[session] || !leaves[one.Of] || !x.o.Rule.Shares(one.Of) {
			continue
		}
		list = append(list, one)
	}
	return list, nil
}

// link adds to an operation which sessions of the store work for which. A link that would let a
// session work for itself is left out. Those of sessions that are shared no more go.
func (p *pulling) link(t *store.Tx, add func(string, format.Value)) error {
	for _, session := range slices.Sorted(maps.Keys(p.news.parent)) {
		one := p.news.parent[session]
		circle, err := p.isCircle(t, session)
		if err != nil {
			return err
		}
		if circle {
			continue
		}
		b, err := json.Marshal(history.ParentDoc{V: 1, Parent: history.Parent{
			Session: history.SharedName(one.Of, p.of.label), Call: one.Call}})
		if err != nil {
			return err
		}
		v, err := newBlob(t, b, "application/json")
		if err != nil {
			return err
		}
		add(history.ParentRef(history.SharedName(session, p.of.label)), v)
	}
	for _, session := range p.one.Ended {
		if !slices.ContainsFunc(history.BranchesIn(t.View, session), func(name string) bool {
			own := strings.TrimSuffix(session, history.SharedName("", p.of.label))
			return !p.ends[share.Branch{Session: own, Name: name}]
		}) {
			add(history.ParentRef(session), format.Value{})
		}
	}
	return nil
}

// isCircle reports whether a session of the store would work for itself, or in a chain without end.
func (p *pulling) isCircle(t *store.Tx, session string) (bool, error) {
	up := session
	for range maxParents {
		if one, is := p.news.parent[up]; is {
			up = one.Of
		} else {
			of, is, err := p.x.s.History.ParentOf(t.View, history.SharedName(up, p.of.label))
			if err != nil || !is {
				return false, err
			}
			up = strings.TrimSuffix(of.Session, history.SharedName("", p.of.label))
		}
		if up == session {
			return true, nil
		}
	}
	return true, nil
}
