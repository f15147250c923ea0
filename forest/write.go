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
	var err error
	out.Forest, err = s.WriteTo(func(c *Cluster, raw format.Raw) error {
		if c == nil || !c.loaded || c.store(raw.ID()) {
			out.Objects = append(out.Objects, raw)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// store notes that the store has a node of c. It reports whether that is new.
func (c *Cluster) store(node format.ID) bool {
	at, there := slices.BinarySearchFunc(c.stored, node, format.ID.Compare)
	if !there {
		c.stored = slices.Insert(c.stored, at, node)
	}
	return !there
}

// WriteTo is Write for who does not need all objects at once. It calls put for each: for the nodes
// of a cluster that has changed since the last write, of which some may be in the store, with the
// cluster; then for pages and the forest, with nil.
func (s *State) WriteTo(put func(*Cluster, format.Raw) error) (format.ID, error) {
	f := &format.Forest{Name: s.Name, Opened: s.Opened, Arrivals: s.Arrivals, Evicted: s.Evictions}
	f.Clusters = make([]format.Cluster, 0, len(s.live))
	for _, c := range s.Live() {
		if err := s.writeCluster(c, put); err != nil {
			return format.ID{}, err
		}
		f.Clusters = append(f.Clusters,
			format.Cluster{Number: c.Number, Node: c.node, Count: c.written, Arrival: c.Arrival,
				Covers: c.Covers})
	}
	if err := s.tombs.write(func(raw format.Raw) error { return put(nil, raw) }); err != nil {
		return format.ID{}, err
	}
	f.Tombs, f.TombCount = s.tombs.root, s.tombs.count
	header, err := f.Encode()
	if err != nil {
		return format.ID{}, err
	}
	raw := format.Raw{Header: header}
	return raw.ID(), put(nil, raw)
}

func (s *State) writeCluster(c *Cluster, put func(*Cluster, format.Raw) error) error {
	if !c.changed {
		return nil
	}
	if !c.loaded && c.written > 0 {
		return s.lengthen(c, put)
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
		c.node = raw.ID()
		if err := put(c, raw); err != nil {
			return err
		}
	}
	c.written, c.changed = uint64(len(members)), false
	return nil
}

// ForgetPages drops the pages of tombstones from memory, which are read again where they are
// needed. It is for right after a write, and what that returned must be in the store.
func (s *State) ForgetPages() { s.tombs.forget() }

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
func (s *State) lengthen(c *Cluster, put func(*Cluster, format.Raw) error) error {
	nodes, root, err := s.grown(c)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return err
		}
		if err := put(c, format.Raw{Header: header}); err != nil {
			return err
		}
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
