package repair

import (
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/refs"
)

// mendForests is for a store in which the forests are lost where the kept log begins, which nothing
// can make again: the log then begins later, where they are whole.
func (r *repairer) mendForests() error {
	base, err := r.s.Refs.Base()
	if err != nil {
		return err
	}
	whole, err := r.wholeForests(graph.RefsOf(base))
	if err != nil || whole {
		return err
	}
	first, ok, err := r.s.Refs.CanBegin(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || !ok || first.Op.Number <= base.Number || r.unfinished() {
		return err
	}
	names := graph.RefsOf(base)
	err = r.s.Refs.Forward(func(rec refs.Record) bool {
		graph.ApplyRefs(names, rec.Op)
		return rec.Op.Number < first.Op.Number
	})
	if err == nil {
		whole, err = r.wholeForests(names)
	}
	if err != nil || !whole {
		return err // derive tells of it
	}
	if err := r.touch(); err != nil {
		return err
	}
	r.lost("the clusters where the log began; undo and reflog reach back to operation %d",
		first.Op.Number)
	_, err = r.s.Refs.DropTo(r.held, first.Op.Number)
	return err
}

// wholeForests reports whether the clusters of the store's own forests are there.
func (r *repairer) wholeForests(names map[string]format.Value) (bool, error) {
	for name, v := range names {
		if _, own := graph.OwnForest(name); own && v.Exists() &&
			!r.hasClusters(v.ID, format.ForestKind, map[format.ID]bool{}) {
			return false, r.ctx.Err()
		}
	}
	return true, r.ctx.Err()
}

// hasClusters reports whether a forest, a page or a node can be read, and those below it.
func (r *repairer) hasClusters(
	id format.ID, kind format.ObjectKind, seen map[format.ID]bool,
) bool {
	if seen[id] || kind != format.ForestKind && kind != format.PageKind &&
		kind != format.NodeKind {
		return true
	}
	seen[id] = true
	header, err := r.s.Objects.Header(id)
	if err != nil {
		return false
	}
	_, o, err := format.DecodeObject(header)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(o.Links(), func(l format.Link) bool {
		return !r.hasClusters(l.ID, l.Want, seen)
	})
}

// mendPins moves branches from pins that nothing can make again to the newest forest.
func (r *repairer) mendPins() error {
	view, err := r.s.Refs.Begin(r.held)
	if err != nil {
		return err
	}
	newest := view.Get(graph.ForestsPrefix + history.MainForest).ID
	if newest.IsZero() || !r.hasClusters(newest, format.ForestKind, map[format.ID]bool{}) {
		return nil // derive tells of it
	}
	op := &format.Operation{Verb: refs.VerbRepair, Time: r.now()}
	for _, name := range view.Names(graph.SessionsPrefix) {
		old := view.Get(name)
		if old.Pin.IsZero() || old.Pin == newest ||
			r.hasClusters(old.Pin, format.ForestKind, map[format.ID]bool{}) {
			continue
		}
		v := old
		v.Pin, v.Through = newest, v.Frontier
		op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: old, New: v})
	}
	if len(op.Refs) == 0 || r.unfinished() {
		return nil
	}
	if err := r.touch(); err != nil {
		return err
	}
	r.lost("the clusters that %d branches rendered; they have the newest ones now", len(op.Refs))
	_, err = r.s.Refs.Commit(r.held, view, op, nil)
	return err
}

// unfinished reports whether there are records behind a damage, which recover reads.
func (r *repairer) unfinished() bool {
	_, unfinished, err := r.s.Refs.Pending()
	return unfinished || err != nil
}
