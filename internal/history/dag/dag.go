// Package dag decides which entries of a session a reader in one of its branches may see, and which
// token set an entry has. It has pure rules over the graph of entries and their parents; the caller
// supplies the entries through a Graph.
//
// Within one invocation a reader sees the ancestors of its tip. It sees the entries of other
// invocations as soon as they have arrived.
package dag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// ErrNotFound says that an entry is in the history of no branch: it does not exist, belongs to
// another session, or was rewound.
var ErrNotFound = errors.New("not in the session's history")

// Graph reads the session DAG.
type Graph interface {
	// Entry reads an entry.
	Entry(id format.ID) (*format.Entry, error)
	// Arrival returns the number of the operation that brought an entry into the session, and false
	// if the number is not known.
	Arrival(id format.ID) (uint64, bool)
}

// Tip is a branch of the session and the entry it ends with.
type Tip struct {
	Branch string
	ID     format.ID
}

// Viewpoint is the entry and the moment from which somebody reads a session.
type Viewpoint struct {
	Tip format.ID
	// Point is the number of the last operation that the reader knows of. It hides later entries of
	// other invocations. It hides no ancestor of Tip, because ancestors arrive before Tip.
	Point uint64
}

// DAG is the entries that the branches of a session stand on, read once. Rewound entries are not in
// it.
type DAG struct {
	nodes []node // parents before children
	index map[format.ID]int32
	tips  map[string]int32
	names map[string]int32 // invocations
	list  []string         // the names by their numbers
	first map[int32]uint64 // by fork: the token of its first child
}

// node is an entry. Invocations are numbered; 0 is no invocation.
type node struct {
	id         format.ID
	parents    []int32
	children   []string // fork and join
	kind       string
	invocation int32
	arrival    uint64
	arrived    bool   // arrival is known
	at         uint64 // the latest arrival of the entry and its ancestors
	begins     []born // the children of forks whose first entry this is
}

// born is a child of a fork: the node of the fork, and the index of the child.
type born struct {
	fork  int32
	child int
}

// Read reads the entries that the branches of a session stand on. It fails if it cannot read one of
// them, because the ancestors of that entry are then unknown.
func Read(g Graph, tips ...Tip) (*DAG, error) {
	d := &DAG{index: map[format.ID]int32{}, tips: map[string]int32{},
		names: map[string]int32{"": 0}, list: []string{""}, first: map[int32]uint64{}}
	for _, t := range tips {
		if err := d.walk(g, t.ID); err != nil {
			return nil, err
		}
		d.tips[t.Branch] = d.index[t.ID]
	}
	for _, t := range tips {
		d.mark(t.Branch, d.index[t.ID], -1)
	}
	for i := range d.nodes {
		if n := &d.nodes[i]; n.kind == format.KindJoin {
			for k := range min(len(n.children), len(n.parents)-1) {
				d.mark(n.children[k], n.parents[k+1], int32(i))
			}
		}
	}
	d.number()
	return d, nil
}

// walk reads tip and its ancestors, parents first, except those that it has read.
func (d *DAG) walk(g Graph, tip format.ID) error {
	type step struct {
		id format.ID
		e  *format.Entry
	}
	const reading = -1
	todo := []step{{id: tip}}
	for len(todo) > 0 {
		top := &todo[len(todo)-1]
		at, seen := d.index[top.id]
		switch {
		case top.e != nil:
			d.add(g, top.id, top.e)
			todo = todo[:len(todo)-1]
		case seen && at == reading:
			return fmt.Errorf("entry %v stands on itself", top.id)
		case seen:
			todo = todo[:len(todo)-1]
		default:
			e, err := g.Entry(top.id)
			if err != nil {
				return err
			}
			top.e = e
			d.index[top.id] = reading
			for _, p := range slices.Backward(e.Parents) {
				todo = append(todo, step{id: p})
			}
		}
	}
	return nil
}

// add adds the node of an entry whose parents have nodes.
func (d *DAG) add(g Graph, id format.ID, e *format.Entry) {
	n := node{id: id, kind: e.Kind}
	if e.Kind == format.KindFork || e.Kind == format.KindJoin {
		n.children = e.Children
	}
	for _, p := range e.Parents {
		at := d.index[p]
		n.parents = append(n.parents, at)
		n.at = max(n.at, d.nodes[at].at)
	}
	if n.arrival, n.arrived = g.Arrival(id); n.arrived {
		n.at = max(n.at, n.arrival)
	}
	switch {
	case e.Invocation != "":
		n.invocation = d.name(e.Invocation)
	case e.Kind == format.KindMessage && e.Role == "user":
		n.invocation = d.name(id.String())
	case len(n.parents) > 0:
		n.invocation = d.nodes[n.parents[0]].invocation
	}
	d.index[id] = int32(len(d.nodes))
	d.nodes = append(d.nodes, n)
}

// name returns the number of an invocation. A name that no header can hold counts as no invocation,
// so that only descendants see its entries.
func (d *DAG) name(invocation string) int32 {
	if n, ok := d.names[invocation]; ok {
		return n
	}
	n := int32(0)
	if _, err := format.EncodeName(invocation); err == nil {
		n = int32(len(d.list))
		d.list = append(d.list, invocation)
	}
	d.names[invocation] = n
	return n
}

// mark finds the fork that started a branch which ends at tip, and marks the first entry of the
// branch, or the join that brings the branch back if it has no entry. The nearest fork that names
// the branch is its own: while a branch exists, no other fork can give its name to a child.
func (d *DAG) mark(branch string, tip, join int32) {
	begin := join
	for at := tip; ; {
		n := &d.nodes[at]
		if n.kind == format.KindFork {
			if i := slices.Index(n.children, branch); i >= 0 {
				if b := (born{at, i}); begin >= 0 && !slices.Contains(d.nodes[begin].begins, b) {
					d.nodes[begin].begins = append(d.nodes[begin].begins, b)
				}
				return
			}
		}
		if len(n.parents) == 0 {
			return
		}
		begin, at = at, n.parents[0]
	}
}

// number gives the children of forks their tokens. It counts from 1 within each invocation, in the
// order in which the forks were made.
func (d *DAG) number() {
	made := make([][]int32, len(d.list)) // by invocation
	for i := range d.nodes {
		if n := &d.nodes[i]; n.kind == format.KindFork {
			made[n.invocation] = append(made[n.invocation], int32(i))
		}
	}
	for _, forks := range made {
		slices.SortStableFunc(forks,
			func(a, b int32) int { return cmp.Compare(d.nodes[a].at, d.nodes[b].at) })
		next := uint64(1)
		for _, f := range forks {
			d.first[f] = next
			next += uint64(len(d.nodes[f].children))
		}
	}
}

func (d *DAG) find(id format.ID) (int32, error) {
	at, ok := d.index[id]
	if !ok {
		return 0, fmt.Errorf("entry %v: %w", id, ErrNotFound)
	}
	return at, nil
}

// Invocation returns the run of an agent that an entry belongs to: the one that its header names;
// the entry itself, if it is a user's message that names none; else that of its first parent. It is
// "" for entries before the first user message. A prompt that starts an agent in a child of an open
// fork must name the invocation of the fork. Otherwise it would begin an invocation of its own, and
// the siblings would see it.
func (d *DAG) Invocation(id format.ID) (string, error) {
	at, err := d.find(id)
	if err != nil {
		return "", err
	}
	return d.list[d.nodes[at].invocation], nil
}

// others reports whether an entry belongs to another invocation than the tip of the reader, and
// arrived no later than the reader's point.
func (d *DAG) others(r Viewpoint, tip, at int32) bool {
	n := &d.nodes[at]
	mine := d.nodes[tip].invocation
	return n.invocation != 0 && mine != 0 && n.invocation != mine && n.arrived &&
		n.arrival <= r.Point
}

// ancestors returns, by node, whether an entry stands on it. An entry stands on itself.
func (d *DAG) ancestors(tip int32) []bool {
	on := make([]bool, len(d.nodes))
	on[tip] = true
	for at := tip; at >= 0; at-- { // parents are before children
		if on[at] {
			for _, p := range d.nodes[at].parents {
				on[p] = true
			}
		}
	}
	return on
}

// All returns the entries of the session, of all kinds, that a reader may see, in the order of
// their arrival. An entry whose arrival or invocation is unknown is visible to its descendants
// only.
func (d *DAG) All(r Viewpoint) ([]format.ID, error) {
	tip, err := d.find(r.Tip)
	if err != nil {
		return nil, err
	}
	see := d.ancestors(tip)
	var list []int32
	for at := range d.nodes {
		if see[at] || d.others(r, tip, int32(at)) {
			list = append(list, int32(at))
		}
	}
	// The sort is stable, so that parents stay before children that arrived with the same
	// operation.
	slices.SortStableFunc(list,
		func(a, b int32) int { return cmp.Compare(d.nodes[a].at, d.nodes[b].at) })
	return lists.Map(list, func(at int32) format.ID { return d.nodes[at].id }), nil
}
