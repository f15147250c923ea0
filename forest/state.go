// Package forest holds the union-find forest of topic clusters. A State is the sum of all decisions
// so far: which entry joined which cluster, which summary covers which members, which cluster was
// evicted. A State can be written as objects, and it can always be computed again from the
// decisions.
//
// The package is pure: it reads objects through a Loader and returns the objects to write. Begin
// with State, then Apply, which defines what each decision does.
package forest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// Loader reads the objects of a stored State on demand. The members of a cluster that does not
// change are never read.
type Loader interface {
	Node(format.ID) (*format.Node, error)
	Page(format.ID) (*format.Page, error)
	Tombstone(format.ID) (*format.Tombstone, error)
}

// State is a forest after some decisions. It is not safe for concurrent use.
type State struct {
	Name      string
	Opened    uint64 // number of clusters ever opened
	Arrivals  uint64 // number of graduations so far
	Evictions uint64 // number of evictions so far

	load  Loader
	live  map[uint64]*Cluster
	tombs tombs
}

// Cluster is a live root of the forest.
type Cluster struct {
	Number  uint64
	Arrival uint64         // of its newest member
	Covers  []format.Cover // sorted by Offset, not overlapping

	node    format.ID // the last written node, which holds the first written members
	written uint64
	members []format.ID // if loaded all members, else those after the first written ones
	loaded  bool
	changed bool        // the members are not those below node any more
	stored  []format.ID // nodes that the store already has, sorted
}

// New returns an empty forest.
func New(name string, load Loader) *State {
	return &State{Name: name, load: load, live: map[uint64]*Cluster{}}
}

// From returns the state that was written as f.
func From(f *format.Forest, load Loader) *State {
	s := &State{Name: f.Name, Opened: f.Opened, Arrivals: f.Arrivals, Evictions: f.Evicted,
		load: load, live: map[uint64]*Cluster{}}
	for _, c := range f.Clusters {
		s.live[c.Number] = &Cluster{
			Number: c.Number, Arrival: c.Arrival, Covers: slices.Clone(c.Covers),
			node: c.Node, written: c.Count,
		}
	}
	s.tombs = tombs{root: f.Tombs, count: f.TombCount}
	return s
}

// Count returns the number of members.
func (c *Cluster) Count() uint64 {
	if c.loaded {
		return uint64(len(c.members))
	}
	return c.written + uint64(len(c.members))
}

// Live returns the live clusters, sorted by number.
func (s *State) Live() []*Cluster {
	return lists.Map(slices.Sorted(maps.Keys(s.live)), func(n uint64) *Cluster { return s.live[n] })
}

// Placer is a Loader that knows where objects lie.
type Placer interface {
	// ByPlace sorts ids so that who reads the objects in this order reads little twice.
	ByPlace(ids []format.ID)
}

// Placed returns clusters in an order in which their members and summaries are quickly read: by
// where their nodes lie, if the loader is a Placer.
func (s *State) Placed(list []*Cluster) []*Cluster {
	p, ok := s.load.(Placer)
	if !ok {
		return list
	}
	return lists.By(list, func(c *Cluster) format.ID {
		if n := len(c.members); n > 0 {
			return c.members[n-1]
		}
		return c.node
	}, p.ByPlace)
}

// LiveCount returns the number of live clusters.
func (s *State) LiveCount() int { return len(s.live) }

// Cluster returns the live cluster with a number, or nil.
func (s *State) Cluster(number uint64) *Cluster { return s.live[number] }

// Members returns a cluster's members in the order in which they arrived. The slice belongs to the
// state: the caller must not change it, and it is valid until the next decision.
func (s *State) Members(c *Cluster) ([]format.ID, error) {
	if c.loaded {
		return c.members, nil
	}
	all := make([]format.ID, 0, c.Count())
	if c.written > 0 {
		err := Walk(s.load, c.node, func(node format.ID, entries []format.ID) {
			c.stored = append(c.stored, node)
			all = append(all, entries...)
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(c.stored, format.ID.Compare)
		if uint64(len(all)) != c.written {
			return nil,
				fmt.Errorf("cluster %d: node %v has %d members, %d belong", c.Number, c.node,
					len(all), c.written)
		}
	}
	c.members, c.loaded = append(all, c.members...), true
	return c.members, nil
}

// Walk visits the node id and all nodes below it, children in order. entries is nil for a node
// whose children are nodes. Walk does not recurse.
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

// Node returns the id of the node over all members of a cluster.
func (s *State) Node(c *Cluster) (format.ID, error) {
	switch {
	case !c.changed:
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

// Dirty reports whether a cluster needs a summary: it is clean only if a single summary that is not
// interim covers all members.
func (c *Cluster) Dirty() bool {
	return len(c.Covers) != 1 || c.Covers[0].Interim || c.Covers[0].Count != c.Count()
}

// Frozen reports whether covers, interim ones included, include all members. Such a cluster can be
// rendered from its summaries alone.
func (c *Cluster) Renderable() bool {
	end := uint64(0)
	for _, v := range c.Covers {
		if v.Offset != end {
			return false
		}
		end += v.Count
	}
	return end == c.Count()
}

// Slice returns the members of a cluster from start up to, but not including, end. It reads only
// the nodes that hold them. The caller must not change the slice, which may belong to the state.
func (s *State) Slice(c *Cluster, start, end uint64) ([]format.ID, error) {
	if start > end || end > c.Count() {
		return nil,
			fmt.Errorf("cluster %d: members %d to %d of %d", c.Number, start, end, c.Count())
	}
	if c.loaded {
		return c.members[start:end], nil
	}
	var out []format.ID
	if start < c.written {
		stored, err := Slice(s.load, c.node, start, min(end, c.written))
		if err != nil {
			return nil, err
		}
		out = stored
	}
	if end > c.written {
		out = append(out, c.members[max(start, c.written)-c.written:end-c.written]...)
	}
	return out, nil
}

// Slice returns the entries below a node from start up to, but not including, end. The shape of the
// tree is known, so it reads only the nodes that hold them.
func Slice(load Loader, node format.ID, start, end uint64) ([]format.ID, error) {
	type part struct {
		node  format.ID
		first uint64 // number of the first entry below it, counted from the root
	}
	var out []format.ID
	stack := []part{{node: node}}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n, err := load.Node(top.node)
		if err != nil {
			return nil, err
		}
		each := fullBelow(n.Level)
		for i := len(n.Children) - 1; i >= 0; i-- {
			first := top.first + uint64(i)*each
			if n.Level > 0 && first < end && first+each > start {
				stack = append(stack, part{n.Children[i], first})
			}
		}
		if n.Level == 0 {
			from, to := max(start, top.first)-top.first,
				min(end-min(end, top.first), uint64(len(n.Children)))
			if from < to {
				out = append(out, n.Children[from:to]...)
			}
		}
	}
	if uint64(len(out)) != end-start {
		return nil, fmt.Errorf("node %v: %d entries from %d to %d", node, len(out), start, end)
	}
	return out, nil
}

// Keep takes out the live clusters and the tombstones of which it is not told to keep them. Numbers
// stay as they are. It is for forests that no decisions are made about: they would not say that a
// cluster went.
func (s *State) Keep(live func(*Cluster) (bool, error), evicted func(Evicted) (bool, error)) error {
	for _, c := range s.Live() {
		keep, err := live(c)
		if err != nil {
			return err
		}
		if !keep {
			delete(s.live, c.Number)
		}
	}
	list, err := s.Evicted()
	if err != nil {
		return err
	}
	for _, e := range list {
		keep, err := evicted(e)
		if err == nil && !keep {
			err = s.tombs.remove(s.load, e.Cluster)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Empty reports whether a forest has neither clusters nor tombstones.
func (s *State) Empty() bool { return len(s.live) == 0 && s.tombs.count == 0 }
