package conversation

import (
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// restoreCovers gives clusters that an undo or a redo changes the summaries (covers) that they had
// before the operation about: retracted members took them along. ops are the operations of the
// session, newest first.
//
// A cover returns only over the members that it was made of, if none of them has changed since and
// no better cover stands in its place. If the log does not reach back so far, the clusters wait for
// the next compaction.
func (t *Tx) restoreCovers(about uint64, ops []refs.Record) error {
	i := slices.IndexFunc(ops,
		func(r refs.Record) bool { return r.Op.Number == about || r.Op.About == about })
	if i < 0 || ops[i].Op.Number < 2 {
		return nil
	}
	taken := ops[i].Op.Number
	for _, name := range t.store.Forests() {
		if len(t.store.Decided(name)) == 0 {
			continue
		}
		past, err := t.clusters.ForestOfAt(t.store.View, name, taken-1)
		if errors.Is(err, history.ErrGone) || history.IsDamage(err) {
			continue
		}
		if err != nil {
			return err
		}
		changed, err := t.changedSince(name, taken)
		if err != nil {
			return err
		}
		if err := t.restoreCoversIn(name, past, changed); err != nil {
			return err
		}
	}
	return nil
}

// changedSince returns the members that operations after one have retracted from a forest: messages
// that have a later version, for example.
func (t *Tx) changedSince(name string, number uint64) (map[format.ID]bool, error) {
	changed := map[format.ID]bool{}
	err := t.Refs.Backward(t.store.View, func(r refs.Record) bool {
		if r.Op.Number <= number {
			return false
		}
		if r.Op.Effects.Summarizes {
			return true
		}
		for forest, d := range r.Op.Decisions() {
			if forest == name && d.Kind == format.DecideRetract {
				changed[d.ID] = true
			}
		}
		return true
	})
	return changed, err
}

// restoreCoversIn is restoreCovers for the forest of a name. past is the forest before the
// operation, changed the members that have changed since.
func (t *Tx) restoreCoversIn(name string, past *forest.State, changed map[format.ID]bool) error {
	st, err := t.store.DraftOf(name)
	if err != nil {
		return err
	}
	seen := map[uint64]bool{}
	for _, d := range slices.Clone(t.store.Decided(name)) {
		now := st.Cluster(d.Cluster)
		if seen[d.Cluster] || now == nil {
			continue
		}
		seen[d.Cluster] = true
		members, covers, err := t.coversIn(past, d.Cluster)
		if err != nil {
			return err
		}
		for _, v := range covers {
			back, ok, err := t.coverDecision(st, now, members, v, changed)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if err := t.store.DecideIn(name, back); err != nil {
				return err
			}
		}
	}
	return nil
}

// coversIn returns the members and covers of a cluster in a past forest, live or evicted; none if
// it had no such cluster.
func (t *Tx) coversIn(
	past *forest.State, number uint64,
) (members []format.ID, covers []format.Cover, err error) {
	at := clusters.ClusterAt{Number: number, Live: past.Cluster(number)}
	r := t.clusters.Lookup()
	if err := r.Fill(past, &at); err != nil || at.Live == nil && at.Tombstone.IsZero() {
		return nil, nil, err
	}
	members, err = r.MembersOf(past, &at)
	return members, at.Covers, err
}

// coverDecision returns the decision that puts the cover v back on the cluster now. members are
// those that the cluster had in the past, to which v refers. ok is false if the cover does not fit
// any more.
func (t *Tx) coverDecision(
	st *forest.State, now *forest.Cluster, members []format.ID, v format.Cover,
	changed map[format.ID]bool,
) (d format.Decision, ok bool, err error) {
	run := members[v.Offset : v.Offset+v.Count]
	have, err := st.Members(now)
	if err != nil {
		return d, false, err
	}
	at := slices.Index(have, run[0])
	if at < 0 || at+len(run) > len(have) || !slices.Equal(have[at:at+len(run)], run) {
		return d, false, nil
	}
	if slices.ContainsFunc(run, func(id format.ID) bool { return changed[id] }) {
		return d, false, nil
	}
	was := format.Cover{Summary: v.Summary, Offset: uint64(at), Count: v.Count, Interim: v.Interim}
	if fits, err := t.coverFits(now.Covers, was); err != nil || !fits {
		return d, false, err
	}
	if gone, err := t.Objects.Gone([]format.ID{v.Summary}); err != nil || len(gone) > 0 {
		return d, false, err
	}
	return format.Decision{
		Kind: format.DecideSettle, Cluster: now.Number, ID: was.Summary, Offset: was.Offset,
		Count: was.Count, Interim: was.Interim,
	}, true, nil
}

// coverFits reports whether a cover may return to a cluster: each cover that it touches must lie
// inside it, and must not be a model's text if it is not one itself.
func (t *Tx) coverFits(covers []format.Cover, was format.Cover) (bool, error) {
	var inside []format.Cover
	for _, v := range covers {
		if v.Offset+v.Count <= was.Offset || v.Offset >= was.Offset+was.Count {
			continue
		}
		if v == was || v.Offset < was.Offset || v.Offset+v.Count > was.Offset+was.Count ||
			was.Interim {
			return false, nil
		}
		if !v.Interim {
			inside = append(inside, v)
		}
	}
	stand, err := t.summaries.WrittenCovers(inside)
	if err != nil || len(stand) == 0 {
		return err == nil, err
	}
	stood, err := t.summaries.WrittenCovers([]format.Cover{was})
	return len(stood) > 0, err
}
