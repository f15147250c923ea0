package clusters

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Members calls each, in order, for the entries that an object stands for: an entry stands for
// itself, a replacement for what it replaces, a node for its run, a summary or tombstone for its
// node, a forest for its live clusters. It stops at the first error of each and returns it.
func (s *Reader) Members(view *refs.View, id format.ID, each func(format.ID) error) error {
	header, err := s.Objects.Header(id)
	if errors.Is(err, objects.ErrNotFound) {
		return s.unwritten(view, id, each)
	}
	if err != nil {
		return err
	}
	kind, read, err := format.DecodeObject(header)
	if err != nil {
		return fmt.Errorf("object %v: %w", id, err)
	}
	switch o := read.(type) {
	case *format.Entry:
		if o.Kind == format.KindReplace {
			return s.ReplacedBy(id, each)
		}
		return each(id)
	case *format.Node:
		return s.EachMember(id, each)
	case interface{ Over() format.ID }: // a summary, a tombstone
		return s.EachMember(o.Over(), each)
	case *format.Forest:
		for _, c := range o.Clusters {
			if err := s.EachMember(c.Node, each); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%w: a %s stands for no entries: %v", history.NoID, kind, id)
}

// EachMember calls each, in order, for the members below a node. It stops at the first error of
// each and returns it.
func (s *Reader) EachMember(node format.ID, each func(format.ID) error) error {
	var failed error
	err := forest.Walk(s.Loader(), node, func(_ format.ID, entries []format.ID) {
		for _, e := range entries {
			if failed == nil {
				failed = each(e)
			}
		}
	})
	return cmp.Or(failed, err)
}

// unwritten finds the members of a cluster by an id that no object has yet: the node of a cluster
// that has changed since the forest was written, at its present or a smaller size. Ids that ctx
// has printed stay valid in this way. It reads all live clusters.
func (s *Reader) unwritten(view *refs.View, id format.ID, each func(format.ID) error) error {
	run, _, err := s.runOf(view, id.String())
	if err != nil {
		return err
	}
	if run == nil {
		return fmt.Errorf("%w: %v", history.NoID, id)
	}
	for _, e := range run {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// OldSizes is the number of earlier sizes of a cluster at which its id is still found.
const OldSizes = 1024

// runOf returns the members of the first live cluster, or of the beginning of one, whose id begins
// with a prefix, and the id; nil if there is none. It looks at the newest OldSizes sizes of each
// cluster, once for a prefix that none has.
func (s *Reader) runOf(view *refs.View, prefix string) (run []format.ID, id format.ID, err error) {
	if no := s.noCluster.Load(); no != nil && no.number == view.Number && no.prefix == prefix {
		return nil, id, nil
	}
	st, err := s.Forest(view)
	if err != nil {
		return nil, id, err
	}
	for _, c := range st.Placed(st.Live()) {
		members, err := st.Members(c)
		if err != nil {
			return nil, id, err
		}
		n, err := forest.SizeOf(members, max(0, len(members)-OldSizes), func(node format.ID) bool {
			id = node
			return strings.HasPrefix(node.String(), prefix)
		})
		if err != nil || n > 0 {
			return members[:n], id, err
		}
	}
	s.noCluster.Store(&noCluster{view.Number, prefix})
	return nil, format.ID{}, nil
}

// AddNodes adds the nodes over a run of entries to the transaction and returns the id of the top
// node.
func (t *Tx) AddNodes(run []format.ID) (format.ID, error) {
	raws, id, err := NodeObjects(run)
	t.store.Add(raws...)
	return id, err
}

// NodeObjects returns the nodes over a run of entries, and the id of the top node.
func NodeObjects(run []format.ID) (raws []format.Raw, id format.ID, err error) {
	nodes, err := format.Nodes(run)
	if err != nil {
		return nil, format.ID{}, err
	}
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return nil, format.ID{}, err
		}
		raw := format.Raw{Header: header}
		raws, id = append(raws, raw), raw.ID()
	}
	return raws, id, nil
}

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
