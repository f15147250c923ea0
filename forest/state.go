// Package forest is the union-find forest of topic clusters: pure rules from values to values. A State is the sum of the decisions taken
// so far; it is written as objects now and then and can always be had again by applying the decisions once more.
package forest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Loader gives a State the objects it was written as, when it needs them: members of clusters that do not change are never read.
type Loader interface {
	Node(format.ID) (*format.Node, error)
	Page(format.ID) (*format.Page, error)
	Tombstone(format.ID) (*format.Tombstone, error)
}

// State is a forest after some decisions. It is not safe for concurrent use.
type State struct {
	Name      string
	Opened    uint64 // clusters ever opened
	Arrivals  uint64 // graduations so far
	Evictions uint64 // evictions so far

	load  Loader
	live  map[uint64]*Cluster
	tombs tombs
}

// Cluster is a live root.
type Cluster struct {
	Number  uint64
	Arrival uint64         // of its newest member
	Covers  []format.Cover // by Offset, not overlapping

	node    format.ID // the node it was last written as, over the first written members
	written uint64
	members []format.ID // all of them when loaded, else those after the written ones
	loaded  bool
	stored  map[format.ID]bool // nodes that are in the store already
}

// New returns an empty forest.
func New(name string, load Loader) *State {
	return &State{Name: name, load: load, live: map[uint64]*Cluster{}}
}

// From returns the state that f was written from.
func From(f *format.Forest, load Loader) *State {
	s := &State{Name: f.Name, Opened: f.Opened, Arrivals: f.Arrivals, Evictions: f.Evicted, load: load, live: map[uint64]*Cluster{}}
	for _, c := range f.Clusters {
		s.live[c.Number] = &Cluster{
			Number: c.Number, Arrival: c.Arrival, Covers: slices.Clone(c.Covers),
			node: c.Node, written: c.Count,
		}
	}
	s.tombs = tombs{root: f.Tombs, count: f.TombCount}
	return s
}

// Count is the number of members.
func (c *Cluster) Count() uint64 {
	if c.loaded {
		return uint64(len(c.members))
	}
	return c.written + uint64(len(c.members))
}

// Live returns the live clusters by number.
func (s *State) Live() []*Cluster {
	list := make([]*Cluster, 0, len(s.live))
	for _, n := range slices.Sorted(maps.Keys(s.live)) {
		list = append(list, s.live[n])
	}
	return list
}

// Cluster returns the live cluster of a number, or nil.
func (s *State) Cluster(number uint64) *Cluster { return s.live[number] }

// Members returns a cluster's members in arrival order. The slice is the state's own: it must not be changed, and is good until the next
// decision.
func (s *State) Members(c *Cluster) ([]format.ID, error) {
	if c.loaded {
		return c.members, nil
	}
	if c.stored == nil {
		c.stored = map[format.ID]bool{}
	}
	all := make([]format.ID, 0, c.Count())
	if c.written > 0 {
		err := Walk(s.load, c.node, func(node format.ID, entries []format.ID) {
			c.stored[node] = true
			all = append(all, entries...)
		})
		if err != nil {
			return nil, err
		}
		if uint64(len(all)) != c.written {
			return nil, fmt.Errorf("cluster %d: node %v has %d members, %d belong", c.Number, c.node, len(all), c.written)
		}
	}
	c.members, c.loaded = append(all, c.members...), true
	return c.members, nil
}

// Walk visits the nodes below and including id, children in order, with a stack of its own. entries is nil for a node of nodes.
func Walk(load Loader, id format.ID, visit func(node format.ID, entries []format.ID)) error {
	stack := []format.ID{id}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n, err := load.Node(top)
		if err != nil {
			return err
		}
		if n.Level == 0 {
			visit(top, n.Children)
			continue
		}
		visit(top, nil)
		for i := len(n.Children) - 1; i >= 0; i-- {
			stack = append(stack, n.Children[i])
		}
	}
	return nil
}

// Node returns the id of the node over all members.
func (s *State) Node(c *Cluster) (format.ID, error) {
	switch {
	case !c.loaded && c.written > 0 && len(c.members) == 0:
		return c.node, nil
	case !c.loaded && c.written > 0:
		_, root, err := s.grown(c)
		return root, err
	}
	members, err := s.Members(c)
	if err != nil {
		return format.ID{}, err
	}
	return format.NodeOf(members)
}

// Dirty reports whether some member is covered by no real summary, or by more than one.
func (c *Cluster) Dirty() bool {
	return len(c.Covers) != 1 || c.Covers[0].Interim || c.Covers[0].Count != c.Count()
}

// Frozen reports whether every member is under some cover, interim ones included: the cluster can be rendered whole.
func (c *Cluster) Frozen() bool {
	end := uint64(0)
	for _, v := range c.Covers {
		if v.Offset != end {
			return false
		}
		end += v.Count
	}
	return end == c.Count()
}
