package forest

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Written is a state as objects.
type Written struct {
	Forest format.ID
	// Objects are the new objects, which were not in the store when the state was read: nodes, then
	// pages, then the forest.
	Objects []format.Raw
}

// Write returns the objects of the state. Equal states have equal ids, however they came about.
func (s *State) Write() (*Written, error) {
	out := &Written{}
	f := &format.Forest{Name: s.Name, Opened: s.Opened, Arrivals: s.Arrivals, Evicted: s.Evictions}
	for _, c := range s.Live() {
		if err := s.writeCluster(c, out); err != nil {
			return nil, err
		}
		f.Clusters = append(f.Clusters, format.Cluster{Number: c.Number, Node: c.node, Count: c.written, Arrival: c.Arrival, Covers: c.Covers})
	}
	pages, err := s.tombs.write()
	if err != nil {
		return nil, err
	}
	out.Objects = append(out.Objects, pages...)
	f.Tombs, f.TombCount = s.tombs.root, s.tombs.count
	header, err := f.Encode()
	if err != nil {
		return nil, err
	}
	raw := format.Raw{Header: header}
	out.Forest = raw.ID()
	out.Objects = append(out.Objects, raw)
	return out, nil
}

func (s *State) writeCluster(c *Cluster, out *Written) error {
	if !c.changed {
		return nil
	}
	if !c.loaded && c.written > 0 {
		return s.lengthen(c, out)
	}
	members, err := s.Members(c)
	if err != nil {
		return err
	}
	nodes, err := format.Nodes(members)
	if err != nil {
		return err
	}
	var added []format.ID
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return err
		}
		raw := format.Raw{Header: header}
		c.node = raw.ID()
		if _, ok := slices.BinarySearchFunc(c.stored, c.node, format.ID.Compare); !ok {
			out.Objects = append(out.Objects, raw)
			added = append(added, c.node)
		}
	}
	if len(added) > 0 {
		c.stored = append(c.stored, added...)
		slices.SortFunc(c.stored, format.ID.Compare)
	}
	c.written, c.changed = uint64(len(members)), false
	return nil
}

// Forget drops the members of long clusters from memory, which are read again where they are
// needed. What Write returned must be in the store.
func (s *State) Forget() {
	for _, c := range s.live {
		if c.loaded && !c.changed && c.written > format.FanOut {
			c.loaded, c.members, c.stored = false, nil, nil
		}
	}
}

// lengthen writes a cluster that has only grown since it was written. It writes only new nodes,
// which are on the right edge of the tree.
func (s *State) lengthen(c *Cluster, out *Written) error {
	nodes, root, err := s.grown(c)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return err
		}
		out.Objects = append(out.Objects, format.Raw{Header: header})
	}
	c.node, c.written, c.members, c.changed = root, c.Count(), nil, false
	return nil
}

// grown returns the nodes that the new members of a cluster add, and the id of the new root.
func (s *State) grown(c *Cluster) ([]*format.Node, format.ID, error) {
	sp, err := spineOf(s.load, c.node)
	if err != nil {
		return nil, format.ID{}, err
	}
	var nodes []*format.Node
	for _, m := range c.members {
		finished, err := sp.add(m)
		if err != nil {
			return nil, format.ID{}, err
		}
		nodes = append(nodes, finished...)
	}
	edge, root, err := sp.top()
	return append(nodes, edge...), root, err
}
