package sharing

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// maxParents limits how many sessions of another store may work for one another in a chain.
const maxParents = 64

// tell adds to p for which sessions shared ones work, and what is said of them, where that is not
// told yet. It returns the objects of what is said. The name of a session that stays does not leave
// with the one that works for it, and what has a secret stays. again is as in changes.
func (x *Sharer) tell(
	ctx context.Context, view *refs.View, base *published, again map[string]bool, p *share.Push,
	report *PushReport,
) (said []chosenObject, err error) {
	leaves := map[string]bool{}
	for b := range base.tips {
		leaves[b.Session] = true
	}
	for _, b := range p.Branches {
		leaves[b.Session] = true
	}
	for _, one := range report.Sessions {
		leaves[one.Name] = !one.Held() // nothing of it leaves
	}
	for _, session := range sessionsOf(view) {
		if !leaves[session] || !x.o.Rule.Shares(session) {
			continue
		}
		if blob := view.Get(history.AboutRef(session)).ID; blob != base.about[session] ||
			again[session] {
			found := PushedSession{}
			if !blob.IsZero() {
				if err := x.examine(ctx, []format.ID{blob}, &found); err != nil {
					return nil, err
				}
				said = append(said, chosenObject{id: blob, session: session})
			}
			if report.Findings = append(report.Findings, found.Findings...); found.Held() {
				said = said[:len(said)-1]
			} else {
				p.Abouts = append(p.Abouts, share.About{Session: session, Blob: blob})
			}
		}
		of, ok, err := x.s.History.ParentOf(view, session)
		if err != nil {
			return nil, err
		}
		one := share.Parent{Session: session, Of: of.Session, Call: of.Call}
		if !ok || one == base.parent[session] || !leaves[one.Of] || !x.o.Rule.Shares(one.Of) {
			continue
		}
		p.Parents = append(p.Parents, one)
	}
	return said, nil
}

// takeAbouts adds to an operation what is said of the sessions of the store.
func (p *pulling) takeAbouts(add func(string, format.Value)) error {
	for _, session := range slices.Sorted(maps.Keys(p.news.about)) {
		v := format.Value{}
		if id := p.news.about[session]; !id.IsZero() {
			v = format.Value{Kind: format.ObjectValue, ID: id}
			raw, err := p.x.object(id)
			if err == nil && raw.Body != nil {
				if _, err := history.DecodeAbout(raw.Body); err != nil {
					return tampered("what is said of session %s: %v", sanitize.Line(session), err)
				}
			}
			if err != nil {
				return err
			}
		}
		add(history.AboutRef(history.SharedName(session, p.of.label)), v)
	}
	return nil
}

// forgottenAbouts returns what the store has said of its sessions and forgotten since. What a
// session of this store has, too, stays.
func (p *pulling) forgottenAbouts() (list []format.ID, err error) {
	stays := map[format.ID]bool{}
	for _, ref := range p.view.Names(history.AboutRefs) {
		session, id := ref[len(history.AboutRefs):], p.view.Get(ref).ID
		if label, shared := history.Owner(p.view, session); !shared || label != p.of.label {
			stays[id] = true
		} else if p.news.forgot[id] {
			list = append(list, id)
		}
	}
	return slices.DeleteFunc(list, func(id format.ID) bool {
		gone, bad := p.x.s.Objects.Forgotten(id)
		err = errors.Join(err, bad)
		return gone || stays[id]
	}), err
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
			add(history.AboutRef(session), format.Value{})
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
