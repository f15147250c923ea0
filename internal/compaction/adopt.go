package compaction

import (
	"context"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
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
	var folded []*history.Head
	for _, b := range branches {
		list, h, err := r.adoptFor(t, b)
		if err != nil {
			return err
		}
		op.Refs = append(op.Refs, list...)
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

// adoptFor lets a branch adopt the forest. It returns the moves of its refs and, if its tip
// moves, the head to save in the cache. It passes over a branch without clustered messages and a
// branch that was removed meanwhile.
func (r *Compaction) adoptFor(
	t *Tx, b history.BranchName,
) (moves []format.RefUpdate, folded *history.Head, err error) {
	name := history.RefName(b.Session, b.Branch)
	old := t.store.View.Get(name)
	if !old.Exists() || old.Frontier == 0 {
		return nil, nil, nil
	}
	if fork, err := t.OpenFork(b.Session, b.Branch, old); err != nil || !fork.IsZero() {
		return nil, nil, err // its frontier waits for the join, and so does its pin
	}
	from, err := t.clusters.PinnedForest(old)
	if err != nil {
		return nil, nil, err
	}
	force := r.force || from != r.Forest || old.Pin.IsZero()
	tip, err := t.Header(old.ID)
	if err != nil {
		return nil, nil, err
	}
	v, err := t.conversation.AdoptForest(old, tip.Seq, r.Forest)
	if err != nil || v == old {
		return nil, nil, err
	}
	if !force {
		if smaller, err := t.shrinks(b, old, v); err != nil || !smaller {
			return nil, nil, err
		}
	}
	if t.store.View.Get(epochs.EpochRef(b.Session, b.Branch)).Exists() {
		h, err := t.Head(b.Session, b.Branch, old)
		if err != nil {
			return nil, nil, err
		}
		if v, moves, err = t.epochs.FoldAt(b.Session, b.Branch, v, h.Seq); err != nil {
			return nil, nil, err
		}
		if h.Value = v; v.ID != old.ID {
			folded = h
		}
	}
	return append(moves, format.RefUpdate{Name: name, Old: old, New: v}), folded, nil
}

// shrinks reports whether a branch renders fewer tokens at the value to than at the value from,
// as text and without a budget. It reports true if the branch cannot be rendered at from because
// of forgotten words.
func (t *Tx) shrinks(b history.BranchName, from, to format.Value) (bool, error) {
	if err := t.store.Flush(); err != nil { // the rendering reads it
		return false, err
	}
	defer t.Cache.PassBy()() // most of the branches are of sessions that are over
	var before, after int
	var failed, err error
	var wait sync.WaitGroup
	wait.Go(func() { before, failed = t.rendered(t.store.View, b, from) })
	wait.Go(func() { after, err = t.rendered(t.store.View, b, to) })
	wait.Wait()
	if failed != nil {
		return true, nil
	}
	return after < before, err
}

func (s *Reader) rendered(
	now *refs.View, b history.BranchName, v format.Value,
) (tokens int, err error) {
	in, err := s.recall.RenderInputOf(now, v, b.Session, b.Branch, view.Options{})
	if err != nil {
		return 0, err
	}
	out, err := view.Render(in, view.Options{})
	return out.Tokens, err
}
