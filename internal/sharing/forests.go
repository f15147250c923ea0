package sharing

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// errNotShared says that a cluster has an entry that is not shared.
var errNotShared = errors.New("an entry is not shared")

// clusterObjects returns the nodes, summaries, tombstones and pages that links lead to, what is
// named before what names it. Every entry must be in entries, unless that is nil. Errors:
// errNotShared, objects.ErrNotFound.
func (x *Sharer) clusterObjects(
	links []format.Link, entries map[format.ID]bool,
) ([]format.ID, error) {
	type step struct {
		format.Link
		done bool
	}
	var out []format.ID
	var stack []step
	push := func(links []format.Link) {
		for _, l := range slices.Backward(links) {
			stack = append(stack, step{l, false})
		}
	}
	push(links)
	seen := map[format.ID]bool{}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch {
		case at.done:
			out = append(out, at.ID)
			continue
		case at.Want == format.EntryKind:
			if entries != nil && !entries[at.ID] {
				return nil, errNotShared
			}
			continue
		case seen[at.ID]:
			continue
		}
		seen[at.ID] = true
		kind, o, err := x.decode(at.ID)
		if err != nil {
			return nil, err
		}
		if kind != at.Want {
			return nil, fmt.Errorf("object %v is a %v in the place of a %v", at.ID, kind, at.Want)
		}
		stack = append(stack, step{at.Link, true})
		push(o.Links())
	}
	return out, nil
}

// linksOf returns what leads to the objects of a live cluster.
func linksOf(st *forest.State, c *forest.Cluster) ([]format.Link, error) {
	node, err := st.Node(c)
	if err != nil {
		return nil, err
	}
	links := []format.Link{{ID: node, Want: format.NodeKind}}
	for _, v := range c.Covers {
		links = append(links, format.Link{ID: v.Summary, Want: format.SummaryKind})
	}
	return links, nil
}

// after returns the tips that a store shares once p is pushed.
func (p *published) after(push *share.Push) map[share.Branch]format.ID {
	next := newPublished()
	maps.Copy(next.tips, p.tips)
	next.apply([]step{{Push: push}})
	return next.tips
}

// forestEach is how many pushes of new messages bring one forest. A session that goes on changes
// its newest clusters with each turn, and their new summaries are as long as the turn itself: 40
// pushes of one were 1.77 times their zstd with a forest in most of them.
const forestEach = 16

// forestWaits reports whether a later push may bring the clusters of a push in which no branch goes
// back. The forest of an earlier push then holds, as all its entries are shared still. It is as old
// as forestEach pushes of messages at most: a push that brings nothing else brings it.
func forestWaits(base *published, p *share.Push) bool {
	return !base.forest.IsZero() && len(p.Branches) > 0 &&
		len(p.Ends)+len(p.Gone)+len(p.Forgot) == 0 && p.Number%forestEach != 0
}

// forest adds to p the clusters of what is shared, where they changed, and returns the objects that
// they need. It takes the main forest as it was last written, and of that the clusters with no
// entry that is not shared. A cluster with a summary in which something is found stays here, and is
// reported.
func (x *Sharer) forest(
	ctx context.Context, view *refs.View, base *published, p *share.Push, report *PushReport,
) (chosen []chosenObject, err error) {
	source, tips := view.Get(history.ForestRef).ID, base.after(p)
	key := x.forestKey(source, tips)
	for _, one := range report.Sessions {
		if one.Held() {
			key = "" // what is shared changes when it is held no more
		}
	}
	if key != "" && x.forestCached(key, base.forest) {
		return nil, nil
	}
	bySession := branchTips{}
	for b, tip := range tips {
		bySession.add(b, tip)
	}
	list, err := x.missingBySession(ctx, bySession, nil)
	if err != nil {
		return nil, err
	}
	entries := lists.Set(list)
	have, err := x.haveOf(base.forest)
	if err != nil {
		return nil, err
	}
	st, err := x.s.History.ReadForest(source)
	if err != nil {
		return nil, err
	}
	take := func(links []format.Link) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		ids, err := x.clusterObjects(links, entries)
		if errors.Is(err, errNotShared) || errors.Is(err, objects.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		ids = slices.DeleteFunc(ids, func(id format.ID) bool { return have[id] })
		held := len(report.Findings)
		for _, id := range ids {
			raw, err := x.object(id)
			if err != nil {
				return false, err
			}
			found, err := x.findings(id, raw)
			if err != nil {
				return false, err
			}
			report.Findings = append(report.Findings, found...)
		}
		if len(report.Findings) > held {
			return false, nil
		}
		for _, id := range ids {
			have[id] = true
			chosen = append(chosen, chosenObject{id: id})
		}
		return true, nil
	}
	err = st.Keep(func(c *forest.Cluster) (bool, error) {
		links, err := linksOf(st, c)
		if err != nil {
			return false, err
		}
		return take(links)
	}, func(e forest.Evicted) (bool, error) {
		return take([]format.Link{{ID: e.Tombstone, Want: format.TombstoneKind}})
	})
	if err != nil {
		return nil, err
	}
	if st.Empty() && base.forest.IsZero() {
		x.cacheForest(key, format.ID{}, nil)
		return nil, nil
	}
	written, err := st.Write()
	if err != nil {
		return nil, err
	}
	if len(report.Findings) == 0 {
		x.cacheForest(key, written.Forest, written.Objects[len(written.Objects)-1].Header)
	}
	if written.Forest == base.forest {
		return nil, nil
	}
	p.Forest = written.Forest
	pages, err := x.pagesOf(written, have)
	return append(chosen, pages...), err
}

// pagesOf returns the forest that was written and the pages of its tombstones, which this store may
// not have.
func (x *Sharer) pagesOf(written *forest.Written, have map[format.ID]bool) ([]chosenObject, error) {
	made := map[format.ID]format.Raw{}
	for _, raw := range written.Objects {
		made[raw.ID()] = raw
	}
	var out []chosenObject
	for todo := []format.ID{written.Forest}; len(todo) > 0; todo = todo[1:] {
		raw, ok := made[todo[0]]
		if !ok {
			header, err := x.s.Objects.Header(todo[0])
			if err != nil {
				return nil, err
			}
			raw = format.Raw{Header: header}
		}
		_, o, err := format.DecodeObject(raw.Header)
		if err != nil {
			return nil, err
		}
		out = append(out, chosenObject{id: todo[0], made: raw})
		for _, l := range o.Links() {
			if l.Want == format.PageKind && !have[l.ID] {
				todo = append(todo, l.ID)
			}
		}
	}
	slices.Reverse(out)
	return out, nil
}

// haveOf returns the objects below a forest that was pushed, as far as they are here: others that
// pull have them.
func (x *Sharer) haveOf(id format.ID) (map[format.ID]bool, error) {
	have := map[format.ID]bool{}
	if id.IsZero() {
		return have, nil
	}
	header, stamp, ok := x.s.History.Cache.Load(x.forestName())
	_, header, _ = bytes.Cut(header, []byte{'\n'})
	if !ok || stamp.Digest != id || (format.Raw{Header: header}).ID() != id {
		var err error
		if header, err = x.s.Objects.Header(id); errors.Is(err, objects.ErrNotFound) {
			return have, nil
		} else if err != nil {
			return nil, err
		}
	}
	f, err := format.DecodeForest(header)
	if err != nil {
		return nil, err
	}
	for _, l := range f.Links() {
		list, err := x.clusterObjects([]format.Link{l}, nil)
		if err != nil && !errors.Is(err, objects.ErrNotFound) {
			return nil, err
		}
		for _, id := range list {
			have[id] = true
		}
	}
	return have, nil
}

// forestKey returns what the shared clusters follow from: the forest, the branches that are shared,
// and which findings may leave. A branch that goes on adds nothing to a forest that was written
// before.
func (x *Sharer) forestKey(source format.ID, tips map[share.Branch]format.ID) string {
	h := sha256.New()
	fmt.Fprintf(h, "%v %q\n", source, []string(x.o.Allow))
	for _, b := range slices.SortedFunc(maps.Keys(tips), share.Branch.Compare) {
		fmt.Fprintf(h, "%q %q\n", b.Session, b.Name)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// forestCached reports whether a forest is known to follow from a key.
func (x *Sharer) forestCached(key string, id format.ID) bool {
	b, stamp, ok := x.s.History.Cache.Load(x.forestName())
	first, _, _ := bytes.Cut(b, []byte{'\n'})
	return ok && stamp.Digest == id && string(first) == key
}

// cacheForest keeps the forest that follows from a key, and its header.
func (x *Sharer) cacheForest(key string, id format.ID, header []byte) {
	if key != "" {
		_ = x.s.History.Cache.Store(x.forestName(), cache.Stamp{Digest: id},
			append([]byte(key+"\n"), header...))
	}
}

func (x *Sharer) forestName() string { return "clusters-" + strings.ToLower(x.o.Name) }

// readForest reads the forest that the pushes bring, and compares what its objects say of each
// other. all says that every push of the store was read: then nothing may be missing. Else clusters
// of a session that was removed here may be missing, and are left out.
func (p *pulling) readForest(ctx context.Context, all bool) error {
	p.forest = nil
	if p.news.forest.IsZero() {
		return nil
	}
	list, err := p.objects(ctx)
	if err != nil {
		return err
	}
	entries := lists.Set(list)
	st, err := p.x.forestOf(p.news.forest)
	if err != nil {
		return err
	}
	take := func(links []format.Link) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		_, err := p.x.clusterObjects(links, entries)
		switch {
		case err == nil:
			return true, nil
		case !errors.Is(err, objects.ErrNotFound) && !errors.Is(err, errNotShared):
			return false, tampered("store %s: its forest: %v", p.head.Store, err)
		case !all:
			return false, nil
		case errors.Is(err, errNotShared):
			return false,
				tampered("store %s: its forest has an entry that is in none of its sessions",
					p.head.Store)
		}
		return false, err
	}
	err = st.Keep(func(c *forest.Cluster) (bool, error) {
		links, err := linksOf(st, c)
		if err != nil {
			return false, err
		}
		keep, err := take(links)
		if err == nil && keep {
			err = p.fitsCluster(st, c)
		}
		return keep, err
	}, func(e forest.Evicted) (bool, error) {
		keep, err := take([]format.Link{{ID: e.Tombstone, Want: format.TombstoneKind}})
		if err == nil && keep {
			err = p.fitsStone(e)
		}
		return keep, err
	})
	if err != nil {
		return err
	}
	p.forest = st
	return nil
}

// fitsCluster checks that the summaries of a cluster are of the runs that they cover.
func (p *pulling) fitsCluster(st *forest.State, c *forest.Cluster) error {
	wrong := func() error {
		return tampered("store %s: cluster %d of its forest and its summaries do not fit",
			p.head.Store, c.Number)
	}
	members, err := st.Members(c)
	if err != nil || uint64(len(members)) != c.Count() {
		return wrong()
	}
	for _, v := range c.Covers {
		sum, err := p.summary(v.Summary)
		if err != nil {
			return err
		}
		if v.Offset > c.Count() || v.Count > c.Count()-v.Offset {
			return wrong()
		}
		node, err := format.NodeOf(members[v.Offset : v.Offset+v.Count])
		if err != nil || node != sum.Node || sum.Interim != v.Interim {
			return wrong()
		}
	}
	return nil
}

// fitsStone checks that a tombstone is of the cluster that it stands for.
func (p *pulling) fitsStone(e forest.Evicted) error {
	load := decodedLoader{p.x}
	stone, err := load.Tombstone(e.Tombstone)
	if err != nil {
		return err
	}
	node, err := load.Node(stone.Node)
	if err != nil {
		return err
	}
	sum, err := p.summary(stone.Summary)
	if err != nil {
		return err
	}
	if stone.Cluster != e.Cluster || stone.Count != node.Count || sum.Node != stone.Node {
		return tampered("store %s: the tombstone of cluster %d and its summary do not fit",
			p.head.Store, e.Cluster)
	}
	return nil
}

func (p *pulling) summary(id format.ID) (*format.Summary, error) {
	_, o, err := p.x.decode(id)
	if err != nil {
		return nil, err
	}
	sum, ok := o.(*format.Summary)
	if !ok {
		return nil, tampered("object %v is no summary", id)
	}
	return sum, nil
}

// forestObjects are the objects of the store's forest as it is here and as the pushes bring it.
func (p *pulling) forestObjects() (ids []format.ID, err error) {
	for _, id := range []format.ID{p.view.Get(history.SharedForestRef(p.of.label)).ID,
		p.news.forest} {
		if id.IsZero() {
			continue
		}
		have, err := p.x.haveOf(id)
		if err != nil {
			return nil, err
		}
		for id := range have {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, format.ID.Compare)
	return slices.Compact(ids), nil
}

// takeForest returns the value of the ref of the store's forest; ok is false where it stays.
func (p *pulling) takeForest(t *store.Tx) (v format.Value, ok bool, err error) {
	if p.forest == nil || p.forest.Empty() {
		return v, p.forest != nil, nil
	}
	written, err := p.forest.Write()
	if err != nil {
		return v, false, err
	}
	t.Add(written.Objects...)
	return format.Value{Kind: format.ObjectValue, ID: written.Forest}, true, nil
}
