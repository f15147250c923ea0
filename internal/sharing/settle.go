package sharing

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
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
	for _, session := range history.SessionsOf(view) {
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
		v, err := t.AddBlob(b, format.MediaJSON)
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

// maxDecoded is how many objects of a pull stay decoded, about 1,300 bytes each. Without a limit a
// clone of 85,000 objects took 330 MB of memory instead of 150, and a twentieth less time.
const maxDecoded = 1 << 14

// decoded are objects that a pull has just checked and stored. Its later steps ask for each of them
// once or twice more, and to find and decode one again takes longer than all else that they do.
type decoded map[format.ID]decodedObject

type decodedObject struct {
	kind format.ObjectKind
	format.Object
}

// keep keeps an object, unless there are many already.
func (d decoded) keep(id format.ID, kind format.ObjectKind, o format.Object) {
	if d != nil && len(d) < maxDecoded {
		d[id] = decodedObject{kind, o}
	}
}

// decode returns an object without its body.
func (x *Sharer) decode(id format.ID) (format.ObjectKind, format.Object, error) {
	if o, ok := x.decoded[id]; ok {
		return o.kind, o.Object, nil
	}
	header, err := x.s.Objects.Header(id)
	if err != nil {
		return 0, nil, err
	}
	return format.DecodeObject(header)
}

// decodedOr returns an object that is decoded, or else what load reads of it.
func decodedOr[T format.Object](
	x *Sharer, id format.ID, load func(format.ID) (T, error),
) (T, error) {
	if o, ok := x.decoded[id].Object.(T); ok {
		return o, nil
	}
	return load(id)
}

// entry returns an entry without its body.
func (x *Sharer) entry(id format.ID) (*format.Entry, error) {
	return decodedOr(x, id, x.s.History.Header)
}

// decodedLoader reads the objects of a forest. Objects that it does not find decoded it reads from
// the store.
type decodedLoader struct{ x *Sharer }

func (l decodedLoader) Node(id format.ID) (*format.Node, error) {
	return decodedOr(l.x, id, l.x.s.History.Loader().Node)
}

func (l decodedLoader) Page(id format.ID) (*format.Page, error) {
	return decodedOr(l.x, id, l.x.s.History.Loader().Page)
}

func (l decodedLoader) Tombstone(id format.ID) (*format.Tombstone, error) {
	return decodedOr(l.x, id, l.x.s.History.Loader().Tombstone)
}

// forestOf returns the state that a forest object holds.
func (x *Sharer) forestOf(id format.ID) (*forest.State, error) {
	if f, ok := x.decoded[id].Object.(*format.Forest); ok {
		return forest.From(f, decodedLoader{x}), nil
	}
	return x.s.History.ReadForest(id)
}
