// Package dag says what of a session a reader in one of its branches may see, and which token set
// an entry has where such sets are asked for. It is given a way to read entries and answers with
// values: pure rules over the graph that entries and their parents are.
//
// Within an invocation visibility is ancestry; what other invocations said is visible once it is
// there.
package dag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// ErrNotFound says that an entry is in no branch's history: it is not there, of another session, or
// was rewound.
var ErrNotFound = errors.New("not in the session's history")

// Graph reads the session DAG.
type Graph interface {
	// Entry reads an entry.
	Entry(id format.ID) (*format.Entry, error)
	// Arrival is the number of the operation that brought an entry into the session; false where that
	// is not known.
	Arrival(id format.ID) (uint64, bool)
}

// Tip is a branch of the session and the entry it ends with.
type Tip struct {
	Branch string
	ID     format.ID
}

// Reader is somebody who reads in a branch.
type Reader struct {
	Tip format.ID
	// Point is the number of the last operation that the reader knows of. It cuts off what other
	// invocations say, and nothing else: what the tip stands on was there before the tip was.
	Point uint64
}

// DAG is what the branches of a session stand on, read once. What was rewound is not in it.
type DAG struct {
	nodes []node // parents before children
	index map[format.ID]int32
	tips  map[string]int32
	names map[string]int32 // invocations
	list  []string         // the names by their numbers
	first map[int32]uint64 // of a fork, the token of its first child
}

// node is an entry. Invocations are numbered; nobody's is 0.
type node struct {
	id         format.ID
	parents    []int32
	children   []string // fork and join
	kind       string
	invocation int32
	arrival    uint64
	arrived    bool   // arrival is known
	at         uint64 // arrival, no earlier than that of what it stands on
	begins     []born // the children of forks that begin with it
}

// born is a child of a fork, by the fork's node and the child's place.
type born struct {
	fork  int32
	child int
}

// Read walks everything that the branches of a session stand on. It fails as a whole where an entry
// cannot be read: what stands behind that is not known.
func Read(g Graph, tips ...Tip) (*DAG, error) {
	d := &DAG{index: map[format.ID]int32{}, tips: map[string]int32{}, names: map[string]int32{"": 0}, list: []string{""}, first: map[int32]uint64{}}
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

// walk reads tip and what it stands on that is not read yet, parents first.
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

// add makes the node of an entry whose parents are there.
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

// name numbers an invocation. What no header can hold is nobody's: it is then seen by ancestry
// alone.
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

// mark finds the fork that a branch which ends at tip was made by, and marks where the branch
// begins: its first entry, or, where it said nothing, the join that brings it back. While a branch
// is there no other fork can have its name, so that the nearest one which names it is its own.
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

// number gives the children of forks their tokens: counted through an invocation from 1, in the
// order in which the forks were made.
func (d *DAG) number() {
	made := make([][]int32, len(d.list)) // by invocation
	for i := range d.nodes {
		if n := &d.nodes[i]; n.kind == format.KindFork {
			made[n.invocation] = append(made[n.invocation], int32(i))
		}
	}
	for _, forks := range made {
		slices.SortStableFunc(forks, func(a, b int32) int { return cmp.Compare(d.nodes[a].at, d.nodes[b].at) })
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

// Invocation is the run of an agent that an entry belongs to: the one its header names; the entry
// itself for a message of the user that names none; else that of its first parent. "" is nobody's:
// there was no user yet. Inside an open fork who writes a prompt down names the invocation of the
// fork, so that a prompt which starts an agent in a child is not one of another invocation, and
// shown to the siblings.
func (d *DAG) Invocation(id format.ID) (string, error) {
	at, err := d.find(id)
	if err != nil {
		return "", err
	}
	return d.list[d.nodes[at].invocation], nil
}

// Visible reports whether a reader may see an entry: what the reader's tip stands on, and what
// another invocation said before the reader's point. An entry that is in no branch's history is not
// visible; nor is one of which it is not known when it came or whose it is, unless the tip stands
// on it.
func (d *DAG) Visible(r Reader, id format.ID) (bool, error) {
	tip, err := d.find(r.Tip)
	if err != nil {
		return false, err
	}
	at, ok := d.index[id]
	if !ok {
		return false, nil
	}
	if d.others(r, tip, at) {
		return true, nil
	}
	found := false
	d.ancestors(tip, func(n int32) bool {
		found = found || n == at
		return !found && n > at // parents are before children
	})
	return found, nil
}

// others reports whether an entry is of another invocation than the reader, and was there before
// the reader's point.
func (d *DAG) others(r Reader, tip, at int32) bool {
	n := &d.nodes[at]
	mine := d.nodes[tip].invocation
	return n.invocation != 0 && mine != 0 && n.invocation != mine && n.arrived && n.arrival <= r.Point
}

// ancestors calls each once for a node and everything it stands on; below a node for which each
// says false it does not go.
func (d *DAG) ancestors(tip int32, each func(int32) bool) {
	seen := map[int32]bool{tip: true}
	for todo := []int32{tip}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !each(at) {
			continue
		}
		for _, p := range d.nodes[at].parents {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
}

// All returns every entry of the session that a reader may see, of all kinds, in the order in which
// they came.
func (d *DAG) All(r Reader) ([]format.ID, error) {
	tip, err := d.find(r.Tip)
	if err != nil {
		return nil, err
	}
	see := make([]bool, len(d.nodes))
	d.ancestors(tip, func(n int32) bool { see[n] = true; return true })
	var list []int32
	for at := range d.nodes {
		if see[at] || d.others(r, tip, int32(at)) {
			list = append(list, int32(at))
		}
	}
	// Parents are before children, and stay so among what one operation brought.
	slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(d.nodes[a].at, d.nodes[b].at) })
	ids := make([]format.ID, len(list))
	for i, at := range list {
		ids[i] = d.nodes[at].id
	}
	return ids, nil
}
