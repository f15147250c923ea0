package clusters

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Lookup finds clusters by id. It only reads and needs no lock. LookupAt makes one for a view,
// Tx.Lookup one that sees the decisions of the transaction.
type Lookup struct {
	*Reader
	View     *refs.View
	ForestOf func(name string) (*forest.State, error)
	flat     bool // there is a flat forest
}

// LookupAt reads the clusters of a view.
func (s *Reader) LookupAt(view *refs.View) Lookup {
	return Lookup{
		Reader: s, View: view, flat: view.Get(history.ForestRefOf(history.FlatForest)).Exists(),
		ForestOf: func(name string) (*forest.State, error) { return s.ForestOf(view, name) },
	}
}

// Lookup returns the lookup that sees the decisions of the transaction.
func (t *Tx) Lookup() Lookup {
	return Lookup{Reader: t.Reader, View: t.store.View, flat: t.store.HasFlat(),
		ForestOf: t.store.DraftOf}
}

// ClusterAt is a cluster that somebody named.
type ClusterAt struct {
	Forest    string
	Number    uint64
	Live      *forest.Cluster // nil for a tombstone
	Tombstone format.ID       // zero for a live cluster
	Node      format.ID       // over its members
	Covers    []format.Cover
}

// AnyCluster finds the cluster that an id names, in the main forest or else in the flat one.
func (r Lookup) AnyCluster(id format.ID) (ClusterAt, error) {
	at, err := r.ClusterOf(history.MainForest, id)
	if errors.Is(err, history.ErrNotFound) && r.flat {
		return r.ClusterOf(history.FlatForest, id)
	}
	return at, err
}

// ClusterOf finds the cluster of a forest that an id names: the id of its node now or at a
// smaller size, of one of its summaries, or of its tombstone.
func (r Lookup) ClusterOf(name string, id format.ID) (ClusterAt, error) {
	notOne := fmt.Errorf("%w: %v names no cluster", history.NoID, id)
	if header, err := r.Objects.Header(id); err == nil {
		kind, _, err := format.HeaderKind(header)
		if err != nil || kind != "node" && kind != "summary" && kind != "tombstone" {
			return ClusterAt{}, errors.Join(notOne, err)
		}
	}
	var run []format.ID
	if err := r.Members(r.View, id,
		func(e format.ID) error { run = append(run, e); return nil }); err != nil {
		return ClusterAt{}, err
	}
	st, err := r.ForestOf(name)
	if err != nil {
		return ClusterAt{}, err
	}
	found, err := st.Find(map[format.ID]bool{run[0]: true})
	if err != nil {
		return ClusterAt{}, err
	}
	place, ok := found[run[0]]
	if !ok {
		return ClusterAt{}, notOne
	}
	at := ClusterAt{Forest: name, Number: place.Cluster, Live: st.Cluster(place.Cluster)}
	if err := r.Fill(st, &at); err != nil {
		return at, err
	}
	same, err := r.holds(st, &at, place.Offset, run)
	if err == nil && !same {
		err = notOne
	}
	return at, err
}

// Fill reads the node, the covers and the tombstone of a cluster whose number is known.
func (r Lookup) Fill(st *forest.State, at *ClusterAt) (err error) {
	if at.Live != nil {
		at.Covers = at.Live.Covers
		at.Node, err = st.Node(at.Live)
		return err
	}
	evicted, err := st.Evicted()
	if err != nil {
		return err
	}
	for _, e := range evicted {
		if e.Cluster != at.Number {
			continue
		}
		stone, err := r.Loader().Tombstone(e.Tombstone)
		if err != nil {
			return err
		}
		at.Tombstone, at.Node = e.Tombstone, stone.Node
		at.Covers = []format.Cover{{Summary: stone.Summary, Count: stone.Count}}
	}
	return nil
}

// holds reports whether a cluster has a run of members at an offset.
func (r Lookup) holds(
	st *forest.State, at *ClusterAt, offset uint64, run []format.ID,
) (bool, error) {
	members, err := r.MembersOf(st, at)
	if err != nil || offset+uint64(len(run)) > uint64(len(members)) {
		return false, err
	}
	return slices.Equal(members[offset:offset+uint64(len(run))], run), nil
}

func (r Lookup) MembersOf(st *forest.State, at *ClusterAt) ([]format.ID, error) {
	if at.Live != nil {
		return st.Members(at.Live)
	}
	var members []format.ID
	err := r.EachMember(at.Node,
		func(id format.ID) error { members = append(members, id); return nil })
	return members, err
}
