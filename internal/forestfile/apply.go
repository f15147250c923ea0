package forestfile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
)

// This file applies the clusters, summaries and tombstones of a union-find file to the forest.

// apply applies the file's clusters under the lock, in one operation, so the frontier passes all of
// them at once. If no summary is new, the branch adopts the summaries that exist.
func (im *importer) apply(t *Tx) error {
	name := history.RefName(im.out.Session, history.MainBranch)
	old := t.store.View.Get(name)
	h, err := t.Head(im.out.Session, history.MainBranch, old)
	if err != nil {
		return err
	}
	st, err := t.store.Draft()
	if err != nil {
		return err
	}
	clusters, err := im.join(t, st)
	if err != nil {
		return err
	}
	if im.out.Joined > 0 {
		if err := im.checkOthers(t); err != nil {
			return err
		}
		h.Value.Frontier, h.Items, h.Joined, h.Lags = h.Seq, nil, false, false
	}
	if err := im.cover(t, st, clusters); err != nil {
		return err
	}
	if err := im.evict(t, st, clusters); err != nil {
		return err
	}
	if len(t.store.Decided(history.MainForest)) == 0 {
		return nil
	}
	// Nothing was compared here: the next candidates come from the forest.
	if err := t.Cache.Store(cache.CandidatesName(history.MainForest), cache.Stamp{},
		nil); err != nil {
		return fmt.Errorf("cannot write the cache: %w", err)
	}
	if err := t.store.WriteForests(); err != nil {
		return err
	}
	pinned, err := t.clusters.PinnedForest(h.Value)
	if err != nil {
		return err
	}
	op := &format.Operation{Verb: refs.VerbGraduate, Session: im.out.Session}
	if pinned == history.MainForest &&
		!slices.ContainsFunc(st.Live(), func(c *forest.Cluster) bool { return !c.Renderable() }) {
		// It accepts existing summaries only
		if h.Value, err = t.conversation.Adopt(h.Value, h.Seq); err != nil {
			return err
		}
		if h.Value, op.Refs, err = t.epochs.FoldAt(im.out.Session, history.MainBranch, h.Value,
			h.Seq); err != nil {
			return err
		}
	}
	op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: h.Value})
	if err := t.store.Commit(op); err != nil {
		return err
	}
	t.SaveHead(h)
	return t.store.ShortenLog()
}

// join puts every node that is no member yet into the store's cluster that has a member of the
// node's cluster, or into a new one. It returns the number of the store's cluster for each cluster
// of the file.
func (im *importer) join(t *Tx, st *forest.State) ([]uint64, error) {
	found, err := st.Find(lists.Set(im.ids))
	if err != nil {
		return nil, err
	}
	clusters := make([]uint64, len(im.doc.Clusters))
	opened := make([]bool, len(clusters))
	for i, c := range im.doc.Clusters {
		for _, id := range im.entries(c.Members) {
			if place, there := found[id]; there && !opened[i] {
				clusters[i], opened[i] = place.Cluster, true
			}
		}
	}
	one := func(i int, id format.ID) error {
		if _, there := found[id]; there {
			return nil
		}
		if !opened[i] {
			clusters[i], opened[i] = st.Opened, true
			im.out.Opened++
		}
		found[id] = forest.Place{}
		im.out.Joined++
		return t.store.Decide(format.Decision{Kind: format.DecideJoin,
			Cluster: clusters[i], ID: id})
	}
	// Clusters are created in the file's order. The cluster whose newest member arrived last in the
	// file also gets its newest member last.
	next := 0
	for _, i := range byArrivalOf(im.doc) {
		for ; next <= i; next++ {
			if err := one(next, im.ids[im.doc.Clusters[next].Members[0]]); err != nil {
				return nil, err
			}
		}
		for _, id := range im.entries(im.doc.Clusters[i].Members) {
			if err := one(i, id); err != nil {
				return nil, err
			}
		}
	}
	return clusters, nil
}

func byArrivalOf(doc *Document) []int {
	order := make([]int, len(doc.Clusters))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(doc.Clusters[a].Arrival, doc.Clusters[b].Arrival) })
	return order
}

// cover accepts the summaries of the file, inputs before the summaries made of them, if the cluster
// still has exactly these members in a row and no summary of its own stands for some of them.
func (im *importer) cover(t *Tx, st *forest.State, clusters []uint64) error {
	mine := map[format.ID]bool{}
	im.index, im.listed = map[format.ID]uint64{}, map[uint64]bool{}
	last := map[int]bool{}
	for _, c := range im.doc.Clusters {
		for _, id := range c.Covers {
			last[im.doc.SummaryAt(id)] = true
		}
	}
	for i := range im.doc.Lineage {
		from := &im.doc.Lineage[i]
		d, known, err := im.acceptance(st, clusters[im.doc.ClusterOf(from)], i, mine)
		if err != nil {
			return err
		}
		switch {
		case known:
		case d.Count == 0 && last[i]:
			im.out.Lost++
		case d.Count > 0:
			if last[i] {
				im.out.Summaries++
			}
			mine[d.ID] = true
			if err := t.store.Decide(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// acceptance returns the decision that accepts a summary. A Count of 0 means that the summary does
// not fit its cluster. known
// says that the store has it already.
func (im *importer) acceptance(
	st *forest.State, number uint64, at int, mine map[format.ID]bool,
) (d format.Decision, known bool, err error) {
	id, from := im.sums[at], &im.doc.Lineage[at]
	c := st.Cluster(number)
	if c == nil {
		stone, there, err := st.Tombstone(number)
		if err != nil || !there {
			return d, false, err
		}
		evicted, err := im.Loader().Tombstone(stone)
		return d, err == nil && evicted.Summary == id, err
	}
	if id.IsZero() {
		return d, false, nil
	}
	members, err := st.Members(c)
	if err != nil {
		return d, false, err
	}
	if !im.listed[number] {
		im.listed[number] = true
		for at, m := range members {
			im.index[m] = uint64(at)
		}
	}
	run := im.entries(from.Members)
	first, there := im.index[run[0]]
	end := first + uint64(len(run))
	if !there || end > uint64(len(members)) || !slices.Equal(members[first:end], run) {
		return d, false, nil
	}
	for _, v := range c.Covers {
		switch {
		case v.Summary == id:
			return d, true, nil
		case v.Offset >= end || v.Offset+v.Count <= first || mine[v.Summary]:
		case !v.Interim || from.Interim:
			return d, false, nil
		}
	}
	return format.Decision{Kind: format.DecideSettle, Cluster: number, ID: id, Offset: first,
		Count: uint64(len(run)), Interim: from.Interim}, false, nil
}

// evict evicts the clusters that are tombstones in the file and have the same members in both, in
// the order of their evictions.
func (im *importer) evict(t *Tx, st *forest.State, clusters []uint64) error {
	var order []int
	for i, c := range im.doc.Clusters {
		if c.Tombstone != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(im.doc.Clusters[a].Tombstone.Eviction,
			im.doc.Clusters[b].Tombstone.Eviction)
	})
	for _, i := range order {
		from := &im.doc.Clusters[i]
		c := st.Cluster(clusters[i])
		if c == nil {
			continue // it is evicted already
		}
		sum := im.sums[im.doc.SummaryAt(from.Covers[0])]
		if c.Dirty() || c.Covers[0].Summary != sum || c.Count() != uint64(len(from.Members)) {
			im.out.Lost++
			continue
		}
		line, err := im.cleanText(from.Tombstone.Line)
		if err != nil {
			return err
		}
		node, err := t.clusters.AddNodes(im.entries(from.Members))
		if err != nil {
			return err
		}
		stone := &format.Tombstone{Cluster: c.Number, Node: node, Count: c.Count(),
			Arrival: c.Arrival, Summary: sum}
		raw, err := im.Seal([]byte(line), format.MediaText, func(b format.Body) ([]byte, error) {
			stone.Body = b
			return stone.Encode()
		})
		if err != nil {
			return err
		}
		if err := t.store.Decide(format.Decision{Kind: format.DecideEvict, Cluster: c.Number,
			ID: t.store.Add(raw)}); err != nil {
			return err
		}
		im.out.Evicted++
	}
	return nil
}
