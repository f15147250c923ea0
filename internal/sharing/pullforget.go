package sharing

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// forget erases the bodies in the store's own sessions that it has forgotten. What this store has
// sealed with its own key stays, and is reported, in whichever session it is: nobody else erases
// what was said here. So does what is no message.
func (p *pulling) forget(ctx context.Context) error {
	if len(p.news.forgot) == 0 {
		return nil
	}
	x := p.x
	theirs, err := p.objects(ctx)
	if err != nil {
		return err
	}
	clusters, err := p.forestObjects()
	if err != nil {
		return err
	}
	theirs = append(theirs, clusters...)
	left, err := p.leftBehind(ctx, setOf(theirs))
	if err != nil {
		return err
	}
	var here []format.ID
	for _, id := range append(theirs, left...) {
		if !p.news.forgot[id] {
			continue
		}
		raw, err := x.s.Objects.Get(id)
		var gone *objects.GoneError
		if errors.As(err, &gone) {
			continue
		}
		if err != nil {
			return err
		}
		mine, sealed, err := x.s.Store.FitsKey(raw)
		switch {
		case err != nil:
			return err
		case mine || !sealed:
			p.one.Asked = append(p.one.Asked, id)
		default:
			here = append(here, id)
		}
	}
	said, err := p.forgottenAbouts()
	if err != nil {
		return err
	}
	here = append(here, said...)
	slices.SortFunc(p.one.Asked, format.ID.Compare)
	if len(here) == 0 {
		return nil
	}
	p.one.Forgot = len(here)
	from, err := p.from(ctx, setOf(here))
	if err != nil {
		return err
	}
	x.o.Forgetting(p.of.label, from)
	// The store tells all that went
	_, err = forget.Run(ctx, x.s, forget.Options{IDs: here, Exact: true})
	return err
}

// leftBehind returns what the store has forgotten and only the log here leads to: what was in a
// session that was removed here, or that its owner has moved away from it since. An undo would
// bring it back. theirs is what the store's sessions lead to now. What this store has said itself
// stays, and is reported.
func (p *pulling) leftBehind(ctx context.Context, theirs map[format.ID]bool) ([]format.ID, error) {
	x := p.x
	rest := map[format.ID]bool{}
	for id := range p.news.forgot {
		if theirs[id] {
			continue
		}
		there, err := x.s.Objects.Has(id)
		if err != nil {
			return nil, err
		}
		forgot, err := x.s.Objects.Forgotten(id)
		if err != nil {
			return nil, err
		}
		if !there || forgot {
			continue
		}
		raw, err := x.object(id)
		if err != nil {
			return nil, err
		}
		mine, _, err := x.s.Store.FitsKey(raw)
		if err != nil {
			return nil, err
		}
		if mine {
			p.one.Asked = append(p.one.Asked, id)
		} else {
			rest[id] = true
		}
	}
	if len(rest) == 0 {
		return nil, nil
	}
	tips, err := p.tipsOnce()
	if err != nil {
		return nil, err
	}
	all, err := x.missingBySession(ctx, tips, nil)
	return slices.DeleteFunc(all, func(id format.ID) bool { return !rest[id] }), err
}

// tipsOnce are the ends that the store's branches have had here, as far as the log goes back.
func (p *pulling) tipsOnce() (branchTips, error) {
	tips, seen := branchTips{}, map[format.ID]bool{}
	add := func(ref string, v format.Value) {
		session, name, ok := history.BranchOfRef(ref)
		if !ok || v.ID.IsZero() || seen[v.ID] {
			return
		}
		if label, shared := history.Owner(p.view, session); shared && label == p.of.label {
			seen[v.ID] = true
			tips.add(share.Branch{Session: session, Name: name}, v.ID)
		}
	}
	base, err := p.x.s.Refs.Base()
	if err != nil {
		return nil, err
	}
	for _, ref := range base.Refs {
		add(ref.Name, ref.Value)
	}
	return tips, p.x.s.Refs.Forward(func(r refs.Record) bool {
		for _, u := range r.Op.Refs {
			add(u.Name, u.Old)
			add(u.Name, u.New)
		}
		return true
	})
}

// from counts bodies by the session of the store that they are in, here or in what is pulled. A
// body of several sessions counts for the first.
func (p *pulling) from(ctx context.Context, ids map[format.ID]bool) (list []Going, err error) {
	tips := p.tipsHere()
	for b, tip := range p.news.tips {
		b.Session = history.SharedName(b.Session, p.of.label)
		tips.add(b, tip)
	}
	w, rest := p.x.newWalk(ctx), len(ids)
	for _, session := range slices.Sorted(maps.Keys(tips)) {
		all, err := w.find(tips[session], nil)
		if err != nil {
			return nil, err
		}
		one := Going{Session: session}
		for _, id := range all {
			if ids[id] {
				one.Bodies++
			}
		}
		if rest -= one.Bodies; one.Bodies > 0 {
			list = append(list, one)
		}
	}
	if rest > 0 {
		list = append(list, Going{Bodies: rest})
	}
	return list, nil
}
