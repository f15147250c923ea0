package compaction

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// adoptBatch is the number of branches that adopt the forest under one lock. Each is rendered
// twice.
const adoptBatch = 16

// finish ends a compaction: it evicts clusters above the limit, lets the branches adopt the
// forest, and writes the forest.
func (r *Compaction) finish(ctx context.Context) error {
	batches := slices.Collect(slices.Chunk(r.o.Branches, adoptBatch))
	for _, batch := range batches[:max(0, len(batches)-1)] {
		if err := r.Locked(ctx, func(t *Tx) error { return r.AdoptAll(t, batch) }); err != nil {
			return err
		}
	}
	return r.Locked(ctx, func(t *Tx) error {
		var last []history.BranchName
		if len(batches) > 0 {
			last = batches[len(batches)-1]
		}
		if err := r.AdoptAll(t, last); err != nil {
			return err
		}
		if err := t.store.ShortenLog(); err != nil && !history.IsDamage(err) {
			return err
		}
		return r.count(t)
	})
}

// AdoptAll evicts clusters above the limit, lets branches adopt the forest and writes the forest,
// in one operation.
func (r *Compaction) AdoptAll(t *Tx, branches []history.BranchName) error {
	if err := t.summaries.Evict(r.Forest, &r.owners, nil, true, &r.done); err != nil {
		return err
	}
	op := &format.Operation{Verb: refs.VerbCompact}
	if len(r.o.Branches) == 1 {
		op.Session = r.o.Branches[0].Session
	}
	var list []*adoption
	for _, b := range branches {
		a, err := r.adopt(t, b)
		if err != nil {
			return err
		}
		if a != nil {
			list = append(list, a)
		}
	}
	if err := r.weigh(t, list); err != nil {
		return err
	}
	var folded []*history.Head
	for _, a := range list {
		if !a.force && !a.shrinks {
			continue
		}
		h, err := t.fold(a, op)
		if err != nil {
			return err
		}
		if h != nil {
			folded = append(folded, h)
		}
	}
	if len(t.store.Decided(r.Forest))+len(op.Refs)+t.store.View.PendingCount(r.Forest) == 0 {
		return nil
	}
	if _, err := t.store.WriteForestOf(r.Forest); err != nil {
		return err
	}
	if err := t.store.Commit(op); err != nil {
		return err
	}
	for _, h := range folded {
		t.SaveHead(h)
	}
	return nil
}

// adoption is how a branch may adopt the forest.
type adoption struct {
	history.BranchName
	from, to format.Value
	force    bool // however it renders
	shrinks  bool // it renders fewer tokens then
}

// adopt returns how a branch adopts the forest. It passes over a branch without clustered messages,
// one that has adopted it, and one that was removed meanwhile.
func (r *Compaction) adopt(t *Tx, b history.BranchName) (*adoption, error) {
	old := t.store.View.Get(history.RefName(b.Session, b.Branch))
	if !old.Exists() || old.Frontier == 0 {
		return nil, nil
	}
	if fork, err := t.OpenFork(b.Session, b.Branch, old); err != nil || !fork.IsZero() {
		return nil, err // its frontier waits for the join, and so does its pin
	}
	from, err := t.clusters.PinnedForest(old)
	if err != nil {
		return nil, err
	}
	tip, err := t.Header(old.ID)
	if err != nil {
		return nil, err
	}
	v, err := t.conversation.AdoptForest(old, tip.Seq, r.Forest)
	if err != nil || v == old {
		return nil, err
	}
	return &adoption{BranchName: b, from: old, to: v,
		force: r.force || from != r.Forest || old.Pin.IsZero()}, nil
}

// fold adds the moves of the refs of a branch to an operation. If its tip moves, it returns the
// head to save in the cache.
func (t *Tx) fold(a *adoption, op *format.Operation) (folded *history.Head, err error) {
	v := a.to
	if t.store.View.Get(epochs.EpochRef(a.Session, a.Branch)).Exists() {
		h, err := t.Head(a.Session, a.Branch, a.from)
		if err != nil {
			return nil, err
		}
		var moves []format.RefUpdate
		if v, moves, err = t.epochs.FoldAt(a.Session, a.Branch, v, h.Seq); err != nil {
			return nil, err
		}
		op.Refs = append(op.Refs, moves...)
		if h.Value = v; v.ID != a.from.ID {
			folded = h
		}
	}
	op.Refs = append(op.Refs, format.RefUpdate{Name: history.RefName(a.Session, a.Branch),
		Old: a.from, New: v})
	return folded, nil
}

// weigh finds out, on all processors, which branches render fewer tokens after they have adopted
// the forest, as text and without a budget. So does one that cannot be rendered as it is, because
// of forgotten words.
func (r *Compaction) weigh(t *Tx, list []*adoption) error {
	list = slices.DeleteFunc(slices.Clone(list), func(a *adoption) bool { return a.force })
	if len(list) == 0 {
		return nil
	}
	if err := t.store.Flush(); err != nil { // the rendering reads it
		return err
	}
	list, err := r.mayShrink(t, list)
	if err != nil || len(list) == 0 {
		return err
	}
	defer t.Cache.PassBy()() // most of the branches are of sessions that are over
	return summaries.InParallel(context.Background(), len(list), func(i int) error {
		a := list[i]
		n, errs := t.tokens(t.store.View, a.Session, a.Branch, a.from, a.to)
		a.shrinks = errs[0] != nil || n[1] < n[0]
		if errs[0] != nil {
			return nil
		}
		return errs[1]
	})
}

// mayShrink returns the branches to weigh. Of many it leaves out those whose tails begin where they
// began and of which no summary tells in other words: nobody would notice, and to render all would
// take most of the time of a compaction. A branch that has pinned what is forgotten adopts anyway.
func (r *Compaction) mayShrink(t *Tx, list []*adoption) (some []*adoption, err error) {
	st, err := t.store.DraftOf(r.Forest)
	if err != nil {
		return nil, err
	}
	if r.told == nil {
		r.told = told{}
	}
	for _, a := range list {
		tells, forgotten, err := r.told.since(t, st, a.Session, a.from.Pin)
		a.force = forgotten
		if !forgotten && (tells || err != nil || // the rendering says what is wrong
			len(r.o.Branches) == 1 || a.from.Through != a.to.Through) {
			some = append(some, a)
		}
	}
	return some, nil
}

// RedoSummary summarizes a cluster from its entries again. It drops all present summaries first,
// so that none returns if the new one fails. id names the cluster or one of its summaries. A
// tombstone becomes a cluster again, and is evicted again if it is still the oldest above the
// limit. The branches adopt the result. RedoSummary returns ErrNotFound if id names no cluster.
func (s *Writer) RedoSummary(
	ctx context.Context, id format.ID, o CompactOptions,
) (summaries.Compaction, error) {
	r := &Compaction{Writer: s, o: o, force: true}
	r.owners.Focus = o.Focus
	var number uint64
	err := s.Locked(ctx, func(t *Tx) error {
		at, err := t.clusters.Lookup().AnyCluster(id)
		if err != nil {
			return err
		}
		r.Forest, number = at.Forest, at.Number
		if err := t.bare(&at); err != nil || len(t.store.Decided(at.Forest)) == 0 {
			return err
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbCompact})
	})
	if err == nil {
		err = r.summarize(ctx, []uint64{number})
	}
	if err == nil {
		err = r.finish(ctx)
	}
	return r.done, err
}

// RevertSummary removes a summary and restores what the log has before it: one summary, or those
// of the pieces that it was made of. If these cover fewer entries, the next compaction summarizes
// the rest. id names the summary or its cluster. The branches adopt the result. RevertSummary
// returns ErrNotFound if id names no cluster, and ErrNoEarlier if no earlier summary fits.
func (s *Writer) RevertSummary(
	ctx context.Context, id format.ID, o CompactOptions,
) (summaries.Compaction, error) {
	r := &Compaction{Writer: s, o: o, force: true}
	view, err := s.Refs.Read()
	if err != nil {
		return r.done, err
	}
	// The log can be long, so it is read without the lock.
	seen, earlier, err := summaries.EarlierCovers(s.clusters.LookupAt(view), id)
	if err != nil {
		return r.done, err
	}
	err = s.Locked(ctx, func(t *Tx) error {
		at, err := t.clusters.Lookup().AnyCluster(id)
		if err != nil {
			return err
		}
		if at.Node != seen.Node || !slices.Equal(at.Covers, seen.Covers) {
			return fmt.Errorf("%w: cluster %v has changed", history.ErrStale, at.Node)
		}
		r.Forest = at.Forest
		if err := t.bare(&at); err != nil {
			return err
		}
		for _, v := range earlier {
			d := format.Decision{Kind: format.DecideSettle, Cluster: at.Number, ID: v.Summary,
				Offset: v.Offset, Count: v.Count}
			if err := t.store.DecideIn(at.Forest, d); err != nil {
				return err
			}
		}
		if at.Live.Dirty() {
			r.done.Carried = len(earlier)
		} else {
			r.done.Settled = len(earlier)
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbCompact})
	})
	if err == nil {
		err = r.finish(ctx)
	}
	return r.done, err
}

// bare makes a cluster live and drops all its summaries that are not interim. Taking out the last
// member and putting it back makes a tombstone live.
func (t *Tx) bare(at *clusters.ClusterAt) error {
	st, err := t.store.DraftOf(at.Forest)
	if err != nil {
		return err
	}
	if at.Live == nil {
		members, err := t.clusters.Lookup().MembersOf(st, at)
		if err != nil {
			return err
		}
		last := len(members) - 1
		out := format.Decision{Kind: format.DecideRetract, Cluster: at.Number, ID: members[last],
			Offset: uint64(last)}
		back := out
		back.Kind = format.DecideRestore
		t.clusters.DropCandidates()
		if err := t.store.DecideIn(at.Forest, out, back); err != nil {
			return err
		}
		at.Live = st.Cluster(at.Number)
		return nil
	}
	for _, v := range summaries.RealCovers(at.Live.Covers, 0, at.Live.Count()) {
		if err := t.store.DecideIn(at.Forest,
			format.Decision{Kind: format.DecideDrop, Cluster: at.Number,
				ID: v.Summary}); err != nil {
			return err
		}
	}
	return nil
}
