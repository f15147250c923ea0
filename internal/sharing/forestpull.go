package sharing

import (
	"context"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

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
	entries := map[format.ID]bool{}
	for _, id := range list {
		entries[id] = true
	}
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
