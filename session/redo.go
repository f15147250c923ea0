package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// RedoSummary has a cluster summarised from its entries again, now, whatever summaries it has: they are dropped first, so that none of them comes back
// where the new one cannot be had. id names the cluster, or one of its summaries; a tombstone becomes a cluster again, and is evicted once more if it
// is still the oldest above the limit. The branches leave. ErrNotFound says that id names no cluster.
func (s *Store) RedoSummary(ctx context.Context, id format.ID, o CompactOptions) (Compaction, error) {
	r := &compaction{Store: s, o: o, force: true}
	var number uint64
	err := s.locked(ctx, func(t *tx) error {
		at, err := t.clusters().anyCluster(id)
		if err != nil {
			return err
		}
		r.forest, number = at.forest, at.number
		if err := t.bare(&at); err != nil || len(t.draftOf(at.forest).decided) == 0 {
			return err
		}
		return t.commit(&format.Operation{Verb: refs.VerbCompact})
	})
	if err == nil {
		err = r.summarise(ctx, []uint64{number})
	}
	if err == nil {
		err = r.finish(ctx)
	}
	return r.done, err
}

// ErrNoEarlier says that there is no summary before the one that is to be reverted.
var ErrNoEarlier = errors.New("no earlier summary")

// RevertSummary takes a summary away and puts back what was there before it, as the log tells: one summary, or those of the pieces that it was made of.
// Where these stand for fewer entries, the rest waits for the next compaction. id names the summary, or its cluster. The branches leave.
// ErrNotFound says that id names no cluster, ErrNoEarlier that nothing was there before which still fits.
func (s *Store) RevertSummary(ctx context.Context, id format.ID, o CompactOptions) (Compaction, error) {
	r := &compaction{Store: s, o: o, force: true}
	view, err := s.Refs.Read()
	if err != nil {
		return r.done, err
	}
	seen, earlier, err := s.clustersAt(view).earlier(id) // the log can be long: it is not read under the lock
	if err != nil {
		return r.done, err
	}
	err = s.locked(ctx, func(t *tx) error {
		at, err := t.clusters().anyCluster(id)
		if err != nil {
			return err
		}
		if at.node != seen.node || !slices.Equal(at.covers, seen.covers) {
			return fmt.Errorf("%w: cluster %v has changed", ErrStale, at.node)
		}
		r.forest = at.forest
		if err := t.bare(&at); err != nil {
			return err
		}
		for _, v := range earlier {
			d := format.Decision{Kind: format.DecideSettle, Cluster: at.number, ID: v.Summary, Offset: v.Offset, Count: v.Count}
			if err := t.decideIn(at.forest, d); err != nil {
				return err
			}
		}
		if at.live.Dirty() {
			r.done.Carried = len(earlier)
		} else {
			r.done.Settled = len(earlier)
		}
		return t.commit(&format.Operation{Verb: refs.VerbCompact})
	})
	if err == nil {
		err = r.finish(ctx)
	}
	return r.done, err
}

// bare makes a cluster live and takes every summary from it that is not interim. A tombstone comes back as it does for whoever takes a member out and
// puts it back.
func (t *tx) bare(at *clusterAt) error {
	st, err := t.forestOf(at.forest)
	if err != nil {
		return err
	}
	if at.live == nil {
		members, err := t.clusters().membersOf(st, at)
		if err != nil {
			return err
		}
		last := len(members) - 1
		out := format.Decision{Kind: format.DecideRetract, Cluster: at.number, ID: members[last], Offset: uint64(last)}
		back := out
		back.Kind = format.DecideRestore
		t.cands = nil
		if err := t.decideIn(at.forest, out, back); err != nil {
			return err
		}
		at.live = st.Cluster(at.number)
		return nil
	}
	for _, v := range realCovers(at.live.Covers, 0, at.live.Count()) {
		if err := t.decideIn(at.forest, format.Decision{Kind: format.DecideDrop, Cluster: at.number, ID: v.Summary}); err != nil {
			return err
		}
	}
	return nil
}
