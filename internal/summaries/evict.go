package summaries

import (
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Evict makes tombstones of the clusters above the limit of their session, in the order of Owners:
// the clusters whose newest member arrived longest ago go first. It joins the summaries of a
// cluster that has several. A cluster without a summary stays. If last is false, more summaries
// follow, and such a cluster stops the eviction of its session: it must go before newer ones. The
// flat forest has one cluster, which stays.
func (t *Tx) Evict(
	name string, owners *Owners, answers []SealedAnswer, last bool, done *Compaction,
) error {
	if name == history.FlatForest {
		return nil
	}
	st, err := t.store.DraftOf(name)
	if err != nil {
		return err
	}
	above, err := owners.above(t.Reader.Reader, st)
	if err != nil {
		return err
	}
	made := map[uint64]SealedAnswer{}
	for _, a := range answers {
		made[a.Cluster] = a
	}
	for _, s := range above {
		for _, c := range s.Clusters {
			if s.Over == 0 || c.Dirty() && !last {
				break
			}
			if c.Dirty() {
				ok, err := t.joinSummaries(name, st, c)
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
			}
			a := made[c.Number]
			if _, err := t.evictOne(name, st, c, a); err != nil {
				return err
			}
			done.After += int64(len(a.line)) - a.after
			done.Evicted++
			s.Over--
		}
	}
	return nil
}

// evictOne makes a tombstone of a cluster.
func (t *Tx) evictOne(
	name string, st *forest.State, c *forest.Cluster, a SealedAnswer,
) (format.ID, error) {
	stone, err := t.stoneOf(st, c, a)
	if err != nil {
		return stone, err
	}
	return stone, t.store.DecideIn(name,
		format.Decision{Kind: format.DecideEvict, Cluster: c.Number, ID: stone})
}

// Evicted is what Evict reports.
type Evicted struct {
	Cluster   format.ID `json:"cluster"` // its node
	Tombstone format.ID `json:"tombstone"`
	Known     bool      `json:"known"` // it was a tombstone already, and nothing changed
}

// Evict makes a tombstone of a live cluster of any age. It returns ErrBlocked if the cluster has
// entries without a summary, and ErrNotFound if id names no cluster. Sessions render the
// tombstone once they adopt the new forest.
func (s *Writer) Evict(ctx context.Context, id format.ID) (Evicted, error) {
	var done Evicted
	err := s.Locked(ctx, func(t *Tx) error {
		found, err := t.clusters.Lookup().ClusterOf(history.MainForest, id)
		if err != nil {
			return err
		}
		done.Cluster = found.Node
		if done.Tombstone = found.Tombstone; !found.Tombstone.IsZero() {
			done.Known = true
			return nil
		}
		st, err := t.store.Draft()
		if err != nil {
			return err
		}
		if found.Live.Dirty() {
			ok, err := t.joinSummaries(history.MainForest, st, found.Live)
			if err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("%w: cluster %v has entries without a summary",
					history.ErrBlocked, found.Node)
			}
		}
		if done.Tombstone, err = t.evictOne(history.MainForest, st, found.Live,
			SealedAnswer{}); err != nil {
			return err
		}
		if _, err := t.store.WriteForestOf(history.MainForest); err != nil {
			return err
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbEvict})
	})
	return done, err
}
