package sharing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
)

// adopt fetches and stores the packs of the pushes after a known one. A push that was stopped may
// have left a pack from which it has taken bodies, and told nobody: those that it is to replace are
// there still, and serve.
func (p *pulling) adopt(ctx context.Context, c content, number uint64) error {
	packs := needed(c.packs, number)
	for i, f := range packs {
		if f.First > p.head.Number {
			continue
		}
		p.x.o.Progress(i, len(packs), "fetching from "+sanitize.Line(p.of.label))
		err := p.adoptFile(ctx, f)
		if errors.Is(err, objects.ErrNoBody) {
			for _, other := range c.packs {
				if !f.Covers(other) || other == f {
					continue
				}
				if bad := p.adoptFile(ctx, other); !errors.Is(bad, objects.ErrNoBody) {
					err = bad
				}
				if err != nil && !errors.Is(err, objects.ErrNoBody) {
					return err
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adoptFile fetches and stores a pack.
func (p *pulling) adoptFile(ctx context.Context, f share.File) error {
	b, err := p.x.r.Get(ctx, share.Stores+p.head.Store+"/"+share.PackFolder+f.Name())
	if errors.Is(err, remote.ErrNotFound) {
		return nil // it was replaced meanwhile, or something is missing then
	}
	if err == nil {
		p.one.Bytes += int64(len(b))
		err = p.adoptPack(ctx, b, f.Digest)
	}
	var corrupt *objects.CorruptError
	if errors.As(err, &corrupt) && packIsCut(b) {
		return incomplete("store %s: pack %s", p.head.Store, f.Name())
	}
	if errors.As(err, &corrupt) {
		return tampered("store %s: pack %s: %s", p.head.Store, f.Name(), corrupt.Why)
	}
	return err
}

// adoptPack stores the objects of a pack. Those that lack their body because the store has
// forgotten it are recorded as forgotten first, in an operation of their own. So are those that
// were made of words that are forgotten here: if another process forgets some meanwhile, the pack
// is looked at again before its objects get their names.
func (p *pulling) adoptPack(ctx context.Context, b []byte, id format.ID) error {
	absent := false
	for try := 1; ; try++ {
		before, _, err := p.x.s.Objects.ForgetFiles()
		if err != nil {
			return err
		}
		noted, err := p.keepOut(ctx, b, id)
		if err != nil {
			return err
		}
		if noted == 0 {
			err = p.adoptAs(ctx, b, id, before)
		}
		switch {
		case noted > 0, errors.Is(err, history.ErrStale) && try < pullTries:
		case errors.Is(err, objects.ErrNoBody) && !absent:
			absent = true
			if err := p.noteAbsent(ctx, b, id); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// adoptAs stores the objects of a pack. ErrStale says that something was forgotten here since some
// operations.
func (p *pulling) adoptAs(ctx context.Context, b []byte, id format.ID, before []uint64) error {
	n := 0
	_, err := p.x.s.Objects.AdoptPack(b, id, func(id format.ID, raw format.Raw) error {
		n++
		kind, o, err := fit(id, raw)
		p.x.decoded.keep(id, kind, o)
		return err
	}, func(publish func() error) error {
		return p.x.s.Store.Locked(ctx, func(*store.Tx) error {
			now, _, err := p.x.s.Objects.ForgetFiles()
			switch {
			case err != nil:
				return err
			case !slices.Equal(now, before):
				return fmt.Errorf("%w: something was forgotten meanwhile", history.ErrStale)
			}
			return publish()
		})
	})
	if err == nil {
		p.one.Objects += n
	}
	return err
}

// noteAbsent records as forgotten what a pack has without its body because the store has forgotten
// it, and what is not here. A pack of pushes that were joined may have objects of long ago: the
// push that told of their end was pulled before them, or gc has removed them here since.
func (p *pulling) noteAbsent(ctx context.Context, b []byte, id format.ID) error {
	var absent []format.ID
	err := p.x.s.Objects.ReadPack(b, id, func(raw format.Raw) error {
		if _, named, err := format.HeaderBody(raw.Header); err != nil || !named || raw.Body != nil {
			return err
		}
		id := raw.ID()
		there, err := p.x.s.Objects.Has(id)
		if err != nil || there {
			return err
		}
		if p.forgot(id) {
			absent = append(absent, id)
		}
		return nil
	})
	if err != nil || len(absent) == 0 {
		return err
	}
	return p.x.s.Store.Locked(ctx, func(t *store.Tx) error { return t.NoteForgotten(absent) })
}

// fit decodes an object, and returns an error for one that no push of ctx brings: of another kind,
// or with what sanitizing takes out of every text.
func fit(id format.ID, raw format.Raw) (format.ObjectKind, format.Object, error) {
	kind, o, err := format.DecodeObject(raw.Header)
	if err != nil {
		return kind, o, tampered("object %v: %v", id, err)
	}
	switch kind {
	case format.EntryKind, format.EpochKind, format.BlobKind,
		format.NodeKind, format.SummaryKind, format.ForestKind, format.PageKind,
		format.TombstoneKind:
	default:
		return kind, o, tampered("object %v is a %v, which no push brings", id, kind)
	}
	body, named, err := format.HeaderBody(raw.Header)
	if err != nil || !named || raw.Body == nil {
		return kind, o, err
	}
	text := raw.Text()
	if !strings.HasPrefix(body.Media, "text/") && !strings.Contains(body.Media, "json") {
		return kind, o, nil
	}
	if _, found, broken := controls.Strip(text, nil); found+broken > 0 {
		return kind, o, tampered("object %v has control characters, or bytes that are no text", id)
	}
	return kind, o, nil
}

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
	left, err := p.leftBehind(ctx, lists.Set(theirs))
	if err != nil {
		return err
	}
	var here []format.ID
	for _, id := range append(theirs, left...) {
		if !p.news.forgot[id] {
			continue
		}
		raw, err := x.s.Objects.Get(id)
		if objects.IsGone(err) {
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
	from, err := p.from(ctx, lists.Set(here))
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
