package session

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// clusterReader finds clusters that somebody names. It reads and never writes, so that it needs no lock: a transaction has one that sees its own
// decisions, a store has one for each view.
type clusterReader struct {
	*Store
	view     *refs.View
	forestOf func(name string) (*forest.State, error)
	flat     bool // there is a flat forest
}

// clustersAt reads the clusters of a view.
func (s *Store) clustersAt(view *refs.View) clusterReader {
	return clusterReader{
		Store: s, view: view, flat: view.Get(forestRefOf(FlatForest)).Exists(),
		forestOf: func(name string) (*forest.State, error) { return s.ForestOf(view, name) },
	}
}

// clusters reads the clusters as the transaction leaves them.
func (t *tx) clusters() clusterReader {
	return clusterReader{Store: t.Store, view: t.view, flat: t.hasFlat(), forestOf: t.forestOf}
}

// clusterAt is a cluster that somebody named.
type clusterAt struct {
	forest string
	number uint64
	live   *forest.Cluster // nil where it is a tombstone
	stone  format.ID       // zero where it is live
	node   format.ID       // over its members
	covers []format.Cover
}

// anyCluster finds the cluster that an id names, in the main forest or else in the flat one.
func (r clusterReader) anyCluster(id format.ID) (clusterAt, error) {
	at, err := r.clusterOf(MainForest, id)
	if errors.Is(err, ErrNotFound) && r.flat {
		return r.clusterOf(FlatForest, id)
	}
	return at, err
}

// clusterOf finds the cluster of a forest that an id names: its node, now or when it was smaller, one of its summaries, or its tombstone.
func (r clusterReader) clusterOf(name string, id format.ID) (clusterAt, error) {
	notOne := fmt.Errorf("%w: %v names no cluster", ErrNotFound, id)
	if header, err := r.Objects.Header(id); err == nil {
		kind, _, err := format.HeaderKind(header)
		if err != nil || kind != "node" && kind != "summary" && kind != "tombstone" {
			return clusterAt{}, errors.Join(notOne, err)
		}
	}
	var run []format.ID
	if err := r.Members(r.view, id, func(e format.ID) error { run = append(run, e); return nil }); err != nil {
		return clusterAt{}, err
	}
	st, err := r.forestOf(name)
	if err != nil {
		return clusterAt{}, err
	}
	found, err := st.Find(map[format.ID]bool{run[0]: true})
	if err != nil {
		return clusterAt{}, err
	}
	place, ok := found[run[0]]
	if !ok {
		return clusterAt{}, notOne
	}
	at := clusterAt{forest: name, number: place.Cluster, live: st.Cluster(place.Cluster)}
	if err := r.fillCluster(st, &at); err != nil {
		return at, err
	}
	same, err := r.holds(st, &at, place.Offset, run)
	if err == nil && !same {
		err = notOne
	}
	return at, err
}

// fillCluster reads what the forest has of a cluster whose number is known.
func (r clusterReader) fillCluster(st *forest.State, at *clusterAt) (err error) {
	if at.live != nil {
		at.covers = at.live.Covers
		at.node, err = st.Node(at.live)
		return err
	}
	evicted, err := st.Evicted()
	if err != nil {
		return err
	}
	for _, e := range evicted {
		if e.Cluster != at.number {
			continue
		}
		stone, err := r.Loader().Tombstone(e.Tombstone)
		if err != nil {
			return err
		}
		at.stone, at.node = e.Tombstone, stone.Node
		at.covers = []format.Cover{{Summary: stone.Summary, Count: stone.Count}}
	}
	return nil
}

// holds reports whether a cluster has a run of members at an offset.
func (r clusterReader) holds(st *forest.State, at *clusterAt, offset uint64, run []format.ID) (bool, error) {
	members, err := r.membersOf(st, at)
	if err != nil || offset+uint64(len(run)) > uint64(len(members)) {
		return false, err
	}
	return slices.Equal(members[offset:offset+uint64(len(run))], run), nil
}

func (r clusterReader) membersOf(st *forest.State, at *clusterAt) ([]format.ID, error) {
	if at.live != nil {
		return st.Members(at.live)
	}
	var members []format.ID
	err := r.walk(at.node, func(id format.ID) error { members = append(members, id); return nil })
	return members, err
}
