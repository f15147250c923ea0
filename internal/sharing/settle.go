package sharing

import (
	"context"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
)

// settle says what is to change here by some pushes of the store. Each session of which they tell
// is to be as it is on that remote which tells of the latest operation of the store. A remote on
// which a session is shared no more says nothing of it, unless the store itself has it no more. No
// session ends before it is known what each remote told.
// The error is objects.ErrNotFound where something is missing.
func (p *pulling) settle(ctx context.Context, steps []step) error {
	met := newPublished()
	met.apply(steps)
	p.news, p.ends = newPublished(), map[share.Branch]bool{}
	p.news.forest, p.news.forgot = met.forest, met.forgot
	all := append([]*published{p.shares}, p.others...)
	tips := make([]map[string][]share.Branch, len(all))
	for i, one := range all {
		tips[i] = one.bySession()
		if one.of > p.shares.of {
			p.news.forest = format.ID{}
		}
	}
	if p.told == nil { // what this remote told was not known when others told of their sessions
		for _, one := range p.others {
			for session := range one.at {
				met.at[session] = 0
			}
		}
	}
	for session := range met.at {
		best := -1
		for i, one := range all {
			if (len(tips[i][session]) > 0 || one.gone[session]) &&
				(best < 0 || one.at[session] > all[best].at[session]) {
				best = i
			}
		}
		best = max(best, 0)
		branches := tips[best][session]
		if best > 0 {
			there, err := p.isHere(ctx, session, branches)
			if err != nil {
				return err
			}
			if !there {
				continue
			}
		}
		if err := p.settleOne(session, all[best], branches); err != nil {
			return err
		}
	}
	return nil
}

// isHere reports whether all that branches of a session lead to is here. What has come from another
// remote, and was not the latest then, may have gone since: it comes with the next pull from there.
func (p *pulling) isHere(
	ctx context.Context, session string, branches []share.Branch,
) (bool, error) {
	var tips, have []format.ID
	for _, b := range branches {
		tips = append(tips, b.Tip)
	}
	for _, name := range history.BranchesIn(p.view, history.SharedName(session, p.of.label)) {
		have = append(have, p.view.Get(p.ref(share.Branch{Session: session, Name: name})).ID)
	}
	_, err := p.x.missing(ctx, tips, have)
	if errors.Is(err, objects.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// settleOne says what is to change of a session, so that it is as a remote has it.
func (p *pulling) settleOne(session string, on *published, branches []share.Branch) error {
	name := history.SharedName(session, p.of.label)
	for _, b := range branches {
		if p.view.Get(p.ref(b)).ID != b.Tip {
			p.news.tips[share.Branch{Session: session, Name: b.Name}] = b.Tip
		}
	}
	for _, branch := range history.BranchesIn(p.view, name) {
		if len(p.others) == p.remotes && !slices.ContainsFunc(branches,
			func(b share.Branch) bool { return b.Name == branch }) {
			p.ends[share.Branch{Session: session, Name: branch}] = true
		}
	}
	if len(branches) == 0 {
		return nil
	}
	if id := on.about[session]; id != p.view.Get(history.AboutRef(name)).ID {
		p.news.about[session] = id
		if there, err := p.x.s.Objects.Has(id); !id.IsZero() && !there {
			return errors.Join(err, objects.ErrNotFound)
		}
	}
	parent, told := on.parent[session]
	of, known, err := p.x.s.History.ParentOf(p.view, name)
	if told && (!known || of.Call != parent.Call ||
		of.Session != history.SharedName(parent.Of, p.of.label)) {
		p.news.parent[session] = parent
	}
	return err
}

// forgot reports whether the store has told on any remote that it has forgotten a body.
func (p *pulling) forgot(id format.ID) bool {
	return p.shares.forgot[id] ||
		slices.ContainsFunc(p.others, func(on *published) bool { return on.forgot[id] })
}
