package sharing

import (
	"maps"
	"path"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// published is what a store shares on a remote after some of its pushes.
type published struct {
	number uint64
	digest format.ID
	tips   map[share.Branch]format.ID // by branch without its tip
	parent map[string]share.Parent    // by session
	about  map[string]format.ID       // by session
	at     map[string]uint64          // by session: the At of the last push that tells of it
	gone   map[string]bool            // sessions that were shared, and that the store has no more
	forest format.ID
	of     uint64 // the At of the push that brought the forest
	forgot map[format.ID]bool
}

func newPublished() *published {
	return &published{tips: map[share.Branch]format.ID{}, parent: map[string]share.Parent{},
		about: map[string]format.ID{}, at: map[string]uint64{}, gone: map[string]bool{},
		forgot: map[format.ID]bool{}}
}

// apply takes further pushes.
func (p *published) apply(steps []step) {
	for _, s := range steps {
		for _, b := range s.Branches {
			p.tips[share.Branch{Session: b.Session, Name: b.Name}] = b.Tip
			p.at[b.Session] = s.At
			delete(p.gone, b.Session)
		}
		for i, b := range slices.Concat(s.Gone, s.Ends) {
			delete(p.tips, b)
			p.at[b.Session] = s.At
			if len(p.tipsOf(b.Session)) == 0 {
				delete(p.parent, b.Session)
				delete(p.about, b.Session)
				p.gone[b.Session] = i < len(s.Gone)
			}
		}
		for _, parent := range s.Parents {
			p.parent[parent.Session] = parent
			p.at[parent.Session] = s.At
		}
		for _, about := range s.Abouts {
			p.about[about.Session] = about.Blob
			p.at[about.Session] = s.At
		}
		if !s.Forest.IsZero() {
			p.forest, p.of = s.Forest, s.At
		}
		for _, id := range s.Forgot {
			p.forgot[id] = true
		}
		p.number, p.digest = s.Number, s.digest
	}
}

// cache keeps what a store shares on the remote, so that the next push or pull need not read its
// log there. It has the form of a segment: the pushes that share all of it, one for each At.
func (x *Sharer) cache(store string, p *published) {
	parts := map[uint64]*share.Push{}
	part := func(at uint64) *share.Push {
		if parts[at] == nil {
			parts[at] = &share.Push{Store: store, Number: p.number + 1, Before: p.digest,
				Time: x.now(), At: at}
		}
		return parts[at]
	}
	for b, tip := range p.tips {
		one := part(p.at[b.Session])
		b.Tip = tip
		one.Branches = append(one.Branches, b)
	}
	for session, gone := range p.gone {
		if gone {
			one := part(p.at[session])
			one.Gone = append(one.Gone, share.Branch{Session: session, Name: history.MainBranch})
		}
	}
	for _, session := range slices.Sorted(maps.Keys(p.parent)) {
		one := part(p.at[session])
		one.Parents = append(one.Parents, p.parent[session])
	}
	for _, session := range slices.Sorted(maps.Keys(p.about)) {
		one := part(p.at[session])
		one.Abouts = append(one.Abouts, share.About{Session: session, Blob: p.about[session]})
	}
	part(p.of).Forest = p.forest
	part(0).Forgot = slices.SortedFunc(maps.Keys(p.forgot), format.ID.Compare)
	var pushes [][]byte
	for _, at := range slices.Sorted(maps.Keys(parts)) {
		slices.SortFunc(parts[at].Branches, share.Branch.Compare)
		slices.SortFunc(parts[at].Gone, share.Branch.Compare)
		b, err := parts[at].Encode()
		if err != nil {
			return
		}
		pushes = append(pushes, b)
	}
	_ = x.s.History.Cache.Store(sharedName(x.o.Name, store),
		cache.Stamp{Number: p.number, Digest: p.digest}, share.EncodeSegment(pushes))
}

// cached returns what cache kept of a store on a remote, as of the newest push of a head; nil where
// it kept something else.
func (x *Sharer) cached(remote string, head *share.Head) *published {
	b, stamp, ok := x.s.History.Cache.Load(sharedName(remote, head.Store))
	if !ok || stamp.Number != head.Number || stamp.Digest != head.Digest {
		return nil
	}
	pushes, err := share.DecodeSegment(b)
	p := newPublished()
	for _, b := range pushes {
		part, _, bad := share.DecodePush(b)
		if bad != nil || part.Store != head.Store {
			return nil
		}
		p.apply([]step{{Push: part}})
	}
	if p.number, p.digest = head.Number, head.Digest; err != nil {
		return nil
	}
	return p
}

// sharedName is the name of the file with what a store shares on a remote.
func sharedName(remote, store string) string { return "shared-" + remote + "." + store }

// tags returns the tags of the heads that the last pulls took in, by folder: a head with the same
// tag need not be read.
func (x *Sharer) tags() map[string]string {
	known := map[string]string{}
	if !x.s.History.Cache.GetJSON(x.tagsName(), &known) {
		return map[string]string{}
	}
	return known
}

// keepTags keeps the tags of heads for the next pull.
func (x *Sharer) keepTags(tags map[string]string) {
	maps.DeleteFunc(tags, func(_, tag string) bool { return tag == "" })
	if !maps.Equal(tags, x.tags()) {
		_ = x.s.History.Cache.PutJSON(x.tagsName(), cache.Stamp{}, tags)
	}
}

func (x *Sharer) tagsName() string { return "heads-" + x.o.Name }

// tipsOf returns the ends of the branches of a session.
func (p *published) tipsOf(session string) (tips []format.ID) {
	for b, tip := range p.tips {
		if b.Session == session {
			tips = append(tips, tip)
		}
	}
	slices.SortFunc(tips, format.ID.Compare)
	return tips
}

// bySession returns the branches that are shared, with their tips, by session and in order.
func (p *published) bySession() map[string][]share.Branch {
	all := map[string][]share.Branch{}
	for b, tip := range p.tips {
		b.Tip = tip
		all[b.Session] = append(all[b.Session], b)
	}
	for _, list := range all {
		slices.SortFunc(list, share.Branch.Compare)
	}
	return all
}

// toldLater returns the shared sessions of which another remote was told something else since this
// one was told of them. A session that is again as this remote has it would count as the older one.
func (x *Sharer) toldLater(view *refs.View, base *published) (map[string]bool, error) {
	again, tips := map[string]bool{}, base.bySession()
	for _, ref := range view.Names(history.RemoteRefs) {
		head, err := x.seen(view, ref)
		if err != nil {
			return nil, err
		}
		if head.Store != x.s.Shared || path.Base(ref) == x.o.Name {
			continue
		}
		other := x.cached(path.Base(ref), head)
		if other == nil {
			continue // it counts as it is until the next push there
		}
		theirs := other.bySession()
		for session := range tips {
			again[session] = again[session] || other.at[session] > base.at[session] &&
				(other.about[session] != base.about[session] ||
					!slices.Equal(tips[session], theirs[session]))
		}
	}
	return again, nil
}
