package session

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
)

// clusterAt is a cluster that somebody named.
type clusterAt struct {
	number uint64
	live   *forest.Cluster // nil where it is a tombstone
	stone  format.ID       // zero where it is live
	node   format.ID       // over its members
}

// errFirst ends a walk at its first entry.
var errFirst = errors.New("first")

// clusterOf finds the cluster of a forest that an id names: its node, now or when it was smaller, one of its summaries, or its tombstone.
func (t *tx) clusterOf(name string, id format.ID) (clusterAt, error) {
	notOne := fmt.Errorf("%w: %v names no cluster", ErrNotFound, id)
	if header, err := t.Objects.Header(id); err == nil {
		kind, _, err := format.HeaderKind(header)
		if err != nil || kind != "node" && kind != "summary" && kind != "tombstone" {
			return clusterAt{}, errors.Join(notOne, err)
		}
	}
	var first format.ID
	err := t.Members(t.view, id, func(e format.ID) error { first = e; return errFirst })
	if !errors.Is(err, errFirst) {
		return clusterAt{}, err
	}
	st, err := t.forestOf(name)
	if err != nil {
		return clusterAt{}, err
	}
	found, err := st.Find(map[format.ID]bool{first: true})
	if err != nil {
		return clusterAt{}, err
	}
	place, ok := found[first]
	if !ok {
		return clusterAt{}, notOne
	}
	at := clusterAt{number: place.Cluster, live: st.Cluster(place.Cluster)}
	if at.live != nil {
		at.node, err = st.Node(at.live)
		return at, err
	}
	evicted, err := st.Evicted()
	for _, e := range evicted {
		if e.Cluster == at.number {
			at.stone = e.Tombstone
		}
	}
	if err == nil {
		at.node, err = t.NodeOf(at.stone)
	}
	return at, err
}
