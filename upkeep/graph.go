package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session"
)

// graph is every object of a store with what it names. An object is known by its number: its place in the sorted list of ids, or
// for one that came later, the order in which it was met. A million entries take some 150 MB.
type graph struct {
	s       *session.Store
	objects []object
	sorted  int                  // the first so many are in the order of their ids
	late    map[format.ID]uint32 // the others
	edges   []edge
	lost    map[uint32][]link // what an object names and was not met when it was read
	bad     map[uint32]error  // objects that could not be read
	marks   []mark

	check func(id format.ID, header []byte, p parsed) // told of each header that could be read; nil for none
}

type object struct {
	id      format.ID
	seq     uint64
	start   uint32 // of its edges
	links   uint32
	parents uint32 // the first so many edges
	kind    kind
	message bool
	read    bool
}

// edge is the number of an object, and in the top bits the kind that the link asks for.
type edge uint32

const (
	edgeKinds = 3 // bits of an edge for the kind
	edgeBits  = 32 - edgeKinds
	edgeMask  = 1<<edgeBits - 1
)

// edgeTo returns the edge to an object that must be of a kind, which is not anyKind.
func edgeTo(to uint32, want kind) edge { return edge(to) | edge(want)<<edgeBits }

func (e edge) to() uint32 { return uint32(e) & edgeMask }
func (e edge) want() kind { return kind(e >> edgeBits) }

// mark is a set of things found out about an object.
type mark uint8

// readGraph reads the header of every object of an inventory, pack by pack in the order they lie in. From then on the inventory knows
// objects by their numbers.
func readGraph(ctx context.Context, s *session.Store, inv *inventory, check func(format.ID, []byte, parsed), progress Progress) (*graph, error) {
	if len(inv.ids) > edgeMask {
		return nil, fmt.Errorf("too many objects: %d", len(inv.ids))
	}
	g := &graph{s: s, sorted: len(inv.ids), late: map[format.ID]uint32{}, lost: map[uint32][]link{}, bad: map[uint32]error{}, check: check}
	g.objects = make([]object, len(inv.ids))
	g.marks = make([]mark, len(inv.ids))
	for i, id := range inv.ids {
		g.objects[i] = object{id: id, kind: anyKind}
	}
	inv.number(g)
	done := 0
	read := func(i uint32) error {
		if g.objects[i].read {
			return nil
		}
		if err := g.load(i); err != nil {
			g.bad[i] = err
		}
		if done++; done%4096 == 0 {
			progress.tell(done, g.sorted, "reading")
			return ctx.Err()
		}
		return nil
	}
	for _, l := range inv.loose {
		if i, ok := g.find(l.id); ok {
			if err := read(i); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range inv.packs {
		for _, i := range p.numbers {
			if err := read(i); err != nil {
				return nil, err
			}
		}
	}
	progress.tell(done, done, "reading")
	return g, ctx.Err()
}

// number puts the numbers of objects in the place of their ids.
func (inv *inventory) number(g *graph) {
	for _, p := range inv.packs {
		p.numbers = make([]uint32, 0, len(p.ids))
		for _, id := range p.ids {
			if i, ok := g.find(id); ok {
				p.numbers = append(p.numbers, i)
			}
		}
		p.ids = nil
	}
	inv.ids = nil
}

// find returns the number of an object that has been met.
func (g *graph) find(id format.ID) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(g.objects[:g.sorted], id, func(o object, id format.ID) int { return o.id.Compare(id) })
	if ok {
		return uint32(i), true
	}
	n, ok := g.late[id]
	return n, ok
}

// meet returns the number of an object, and reads it if it is new.
func (g *graph) meet(id format.ID) (uint32, error) {
	if i, ok := g.find(id); ok {
		return i, nil
	}
	if len(g.objects) > edgeMask {
		return 0, errors.New("too many objects")
	}
	i := uint32(len(g.objects))
	g.objects = append(g.objects, object{id: id, kind: anyKind})
	g.marks = append(g.marks, 0)
	if err := g.load(i); err != nil {
		g.objects, g.marks = g.objects[:i], g.marks[:i]
		return 0, err
	}
	g.late[id] = i
	return i, nil
}

// load reads the header of object i.
func (g *graph) load(i uint32) error {
	o := &g.objects[i]
	o.read = true
	header, err := g.s.Objects.Header(o.id)
	if err != nil {
		return err
	}
	p, err := parse(header)
	if err != nil {
		return err
	}
	if g.check != nil {
		g.check(o.id, header, p)
	}
	o.kind, o.message, o.seq = p.kind, p.message, p.seq
	o.start, o.parents = uint32(len(g.edges)), uint32(p.parents)
	for n, l := range p.links {
		to, ok := g.find(l.id)
		if !ok {
			g.lost[i] = append(g.lost[i], l)
			if n < p.parents {
				o.parents--
			}
			continue
		}
		g.edges = append(g.edges, edgeTo(to, l.want))
	}
	o.links = uint32(len(g.edges)) - o.start
	return nil
}

// below returns the edges of object i.
func (g *graph) below(i uint32) []edge {
	o := &g.objects[i]
	return g.edges[o.start : o.start+o.links]
}

// parents returns the edges of an entry to its parents, its own branch first.
func (g *graph) parentsOf(i uint32) []edge {
	o := &g.objects[i]
	return g.edges[o.start : o.start+o.parents]
}

// walk is a way through the graph from some objects to everything below them.
type walk struct {
	*graph
	mark  mark
	stop  mark                                       // what has one of these has all below it dealt with
	visit func(i uint32)                             // told of each object once; nil for nobody
	lack  func(from uint32, l link, why error) error // told of what cannot be read: l is zero for from itself; nil to pass it over
}

// from marks object i and everything below it. What has the mark already is not walked again.
func (w *walk) from(i uint32) error {
	stack := []uint32{i}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.marks[top]&(w.mark|w.stop) != 0 {
			continue
		}
		w.marks[top] |= w.mark
		if w.visit != nil {
			w.visit(top)
		}
		if err := w.bad[top]; err != nil && w.lack != nil {
			if err := w.lack(top, link{}, err); err != nil {
				return err
			}
		}
		for _, e := range w.below(top) {
			stack = append(stack, e.to())
		}
		for _, l := range w.lost[top] {
			next, err := w.meet(l.id)
			if err == nil {
				stack = append(stack, next)
			} else if w.lack != nil {
				if err := w.lack(top, l, err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Progress is told how far a long piece of work has come: done of total, and what is being done. It may be nil.
type Progress func(done, total int, what string)

func (p Progress) tell(done, total int, what string) {
	if p != nil {
		p(done, total, what)
	}
}
