package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// evict makes tombstones of the clusters that arrived longest ago, of each session those above the
// limit. The summaries of a cluster that has several are joined first. A cluster that is not
// summarised stays; before the last batch it also ends the eviction of its session, so that the
// oldest go first. The flat forest has one cluster, which stays.
func (t *tx) evict(name string, owners *owners, answers []answer, last bool, done *Compaction) error {
	if name == FlatForest {
		return nil
	}
	st, err := t.forestOf(name)
	if err != nil {
		return err
	}
	above, err := owners.above(t.Store, st)
	if err != nil {
		return err
	}
	made := map[uint64]answer{}
	for _, a := range answers {
		made[a.cluster] = a
	}
	for _, s := range above {
		for _, c := range s.clusters {
			if s.over == 0 || c.Dirty() && !last {
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
			if _, err := t.evictOne(name, st, c, made[c.Number]); err != nil {
				return err
			}
			done.Evicted++
			s.over--
		}
	}
	return nil
}

// evictOne makes a tombstone of a cluster.
func (t *tx) evictOne(name string, st *forest.State, c *forest.Cluster, a answer) (format.ID, error) {
	stone, err := t.stoneOf(st, c, a)
	if err != nil {
		return stone, err
	}
	return stone, t.decideIn(name, format.Decision{Kind: format.DecideEvict, Cluster: c.Number, ID: stone})
}

// stoneOf returns the tombstone that was made with the cluster's summary, if it still fits, else makes one.
func (t *tx) stoneOf(st *forest.State, c *forest.Cluster, a answer) (format.ID, error) {
	if !a.stone.IsZero() && c.Covers[0].Summary == a.summary && c.Arrival == a.arrival {
		return a.stone, nil
	}
	members, err := st.Members(c)
	if err != nil {
		return format.ID{}, err
	}
	said, err := t.summarySaid(c.Covers[0].Summary)
	if err != nil {
		return format.ID{}, err
	}
	// The node has to be in the store, whether or not the forest was written since the cluster grew.
	node, err := t.addNodes(members)
	if err != nil {
		return format.ID{}, err
	}
	others, err := t.othersNow(st)
	if err != nil {
		return format.ID{}, err
	}
	raw, err := t.tombstone(answer{
		claim:   claim{cluster: c.Number, node: node, arrival: c.Arrival, members: members},
		summary: c.Covers[0].Summary,
	}, said, others)
	if err != nil {
		return format.ID{}, err
	}
	return t.add(raw), nil
}

// What a tombstone's line is compared with, so that it says what is rare: the newest tombstones, and the clusters that arrived last. Both are few, since
// they are read under the lock.
const (
	comparedLines    = 64
	comparedClusters = 16
)

// evictedLines knows what the newest tombstones are about.
func (s *Store) evictedLines(st *forest.State) (*summarize.Others, error) {
	others := &summarize.Others{}
	newest, _, err := st.NewestEvicted(comparedLines)
	if err != nil {
		return nil, err
	}
	for _, e := range newest {
		_, line, err := s.stone(e.Tombstone)
		if err != nil {
			return nil, err
		}
		others.AddLine(line)
	}
	return others, nil
}

// othersNow knows what other clusters are about, as of the first eviction of a transaction.
func (t *tx) othersNow(st *forest.State) (*summarize.Others, error) {
	if t.others != nil {
		return t.others, nil
	}
	others, err := t.evictedLines(st)
	if err != nil {
		return nil, err
	}
	live := byArrival(st)
	for _, c := range live[max(0, len(live)-comparedClusters):] {
		covers := realCovers(c.Covers, 0, c.Count())
		if len(covers) == 0 {
			continue
		}
		said, err := t.summarySaid(covers[0].Summary)
		if err != nil {
			return nil, err
		}
		others.Add(said)
	}
	t.others = others
	return others, nil
}

// summarySaid is what a summary says, as a tombstone's line is made of it; nothing where its words are gone.
func (s *Store) summarySaid(id format.ID) ([]summarize.Source, error) {
	parts, err := s.parts([]format.Cover{{Summary: id}})
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if text := parts[0].Text; text != "" {
		return []summarize.Source{{Text: text}}, nil
	}
	return sourcesOf(parts[0].Sentences), nil
}

// tombstone builds the object of an evicted cluster. Its line is made of the summary, which is at hand and small, and names what others do not
// have.
func (s *Store) tombstone(a answer, said []summarize.Source, others *summarize.Others) (format.Raw, error) {
	line, err := s.lineOf(a.members, said, others)
	if err != nil {
		return format.Raw{}, err
	}
	stone := &format.Tombstone{Cluster: a.cluster, Node: a.node, Count: uint64(len(a.members)), Arrival: a.arrival, Summary: a.summary}
	raw, err := s.sealNew([]byte(line), format.MediaText, func(b format.Body) ([]byte, error) {
		stone.Body = b
		return stone.Encode()
	})
	if err != nil {
		return raw, fmt.Errorf("cluster %d: %w", a.cluster, err)
	}
	return raw, nil
}

// ErrBlocked says that something has to happen first.
var ErrBlocked = errors.New("blocked")

// Evicted is what Evict reports.
type Evicted struct {
	Cluster   format.ID // its node
	Tombstone format.ID
	Known     bool // it was one already: nothing was changed
}

// Evict makes a tombstone of a live cluster, whatever its age. ErrBlocked says that it has entries without a summary, ErrNotFound that id names no
// cluster. What sessions render changes when they leave.
func (s *Store) Evict(ctx context.Context, id format.ID) (Evicted, error) {
	var done Evicted
	err := s.locked(ctx, func(t *tx) error {
		found, err := t.clusters().clusterOf(MainForest, id)
		if err != nil {
			return err
		}
		done.Cluster = found.node
		if done.Tombstone = found.stone; !found.stone.IsZero() {
			done.Known = true
			return nil
		}
		st, err := t.forest()
		if err != nil {
			return err
		}
		if found.live.Dirty() {
			ok, err := t.joinSummaries(MainForest, st, found.live)
			if err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("%w: cluster %v has entries without a summary", ErrBlocked, found.node)
			}
		}
		if done.Tombstone, err = t.evictOne(MainForest, st, found.live, answer{}); err != nil {
			return err
		}
		if _, err := t.writeForest(); err != nil {
			return err
		}
		return t.commit(&format.Operation{Verb: refs.VerbEvict})
	})
	return done, err
}
