package forest

import (
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
	if !c.loaded && len(c.members) == 0 {
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
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return err
		}
		raw := format.Raw{Header: header}
		id := raw.ID()
		c.node = id
		if !c.stored[id] {
			out.Objects = append(out.Objects, raw)
			c.stored[id] = true
		}
	}
	c.written = uint64(len(members))
	return nil
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
	c.node, c.written, c.members = root, c.Count(), nil
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
