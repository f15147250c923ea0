package compaction

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

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
