// Package graph reads what every object of a store names, and walks from refs and log records to
// all that they lead to. The other packages of internal/maintenance judge by it: what is reachable
// stays, what is missing is a fault. It reads headers alone, and writes nothing.
//
// Begin with Graph and Walk; roots.go says where walks begin, inventory.go where objects are.
package graph

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/objects"
)

// Graph holds every object of a store with its links. An object is known by its number: its place
// in the sorted list of ids, or for an object that came later, the order in which it was met. A
// million entries take some 150 MB.
type Graph struct {
	s       *session.Store
	Objects []Object
	sorted  int                  // the first so many are in the order of their ids
	fan     []uint32             // of these, by the first fanBits of an id: how many ids begin with less
	late    map[format.ID]uint32 // the others
	edges   []Edge
	Lost    map[uint32][]format.Link // what an object names and was not met when it was read
	Bad     map[uint32]error         // objects that could not be read
	Marks   []Mark

	check func(id format.ID, header []byte, read format.Object) // told of each header that could be read; nil for none
}

// Object is what the graph keeps of one object.
type Object struct {
	ID      format.ID
	Seq     uint64
	start   uint32 // of its edges
	links   uint32
	parents uint32 // the first so many edges
	Kind    format.ObjectKind
	Message bool
	read    bool
}

// Edge holds the number of the object that a link leads to, and in its top bits the kind that the
// link asks for.
type Edge uint32

const (
	edgeKinds = 4 // bits of an edge for the kind
	edgeBits  = 32 - edgeKinds
	edgeMask  = 1<<edgeBits - 1
)

// A kind that does not fit into an edge does not compile: the length of the array is negative then.
var _ [1<<edgeKinds - int(format.AnyKind)]struct{}

// edgeTo returns the edge to an object that must be of the kind want, which is not AnyKind.
func edgeTo(to uint32, want format.ObjectKind) Edge { return Edge(to) | Edge(want)<<edgeBits }

func (e Edge) To() uint32 { return uint32(e) & edgeMask }

func (e Edge) Want() format.ObjectKind { return format.ObjectKind(e >> edgeBits) }

// Mark is a set of facts about an object, one a bit.
type Mark uint8

// Reached marks the objects that refs or the log lead to. Every other bit is free for the user of
// the graph.
const Reached Mark = 1

// Read reads the header of every object of an inventory, pack by pack in the order in which
// headers lie there. It calls check, which may be nil, for each header that it can read.
// Afterwards the inventory knows objects by their numbers.
func Read(ctx context.Context, s *session.Store, inv *Inventory, check func(format.ID, []byte, format.Object), progress Progress) (*Graph, error) {
	if len(inv.IDs) > edgeMask {
		return nil, fmt.Errorf("too many objects: %d", len(inv.IDs))
	}
	g := &Graph{s: s, sorted: len(inv.IDs), late: map[format.ID]uint32{}, Lost: map[uint32][]format.Link{}, Bad: map[uint32]error{}, check: check}
	g.Objects = make([]Object, len(inv.IDs))
	g.Marks = make([]Mark, len(inv.IDs))
	for i, id := range inv.IDs {
		g.Objects[i] = Object{ID: id, Kind: format.AnyKind}
	}
	g.fan = fanOf(inv.IDs)
	inv.IDs = nil // before more memory is taken
	inv.number(g)
	if err := g.readAll(ctx, inv, progress); err != nil {
		return nil, err
	}
	progress.Tell(g.sorted, g.sorted, "reading")
	return g, ctx.Err()
}

// readAll reads the objects of an inventory: each once, those of a pack block by block, several
// blocks at a time. What a pack lists and does not give is looked for by its id.
func (g *Graph) readAll(ctx context.Context, inv *Inventory, progress Progress) error {
	done := 0
	took := func() error {
		if done++; done%4096 == 0 {
			progress.Tell(done, g.sorted, "reading")
			return ctx.Err()
		}
		return nil
	}
	for i := range inv.unpackedIn(g) {
		g.take(g.look(i))
		if err := took(); err != nil {
			return err
		}
	}
	for _, p := range inv.Packs {
		var stopped error
		_ = objects.EachBlock(g.s.Objects, p.ID, g.lookInto, func(list []loaded) error {
			for _, l := range list {
				if g.Objects[l.at].read {
					continue
				}
				g.take(l)
				if stopped = took(); stopped != nil {
					return stopped
				}
			}
			return nil
		}) // what cannot be read is told below, object by object
		if stopped != nil {
			return stopped
		}
		for _, i := range p.Numbers {
			if g.Objects[i].read {
				continue
			}
			g.take(g.look(i))
			if err := took(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpackedIn yields the numbers of the objects in the log and of the loose ones, each once.
func (inv *Inventory) unpackedIn(g *Graph) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for id := range inv.Unpacked() {
			if i, ok := g.Find(id); ok && !g.Objects[i].read && !yield(i) {
				return
			}
		}
	}
}

// number replaces the ids of objects by their numbers.
func (inv *Inventory) number(g *Graph) {
	for _, p := range inv.Packs {
		p.Numbers = make([]uint32, 0, len(p.IDs))
		for _, id := range p.IDs {
			if i, ok := g.Find(id); ok {
				p.Numbers = append(p.Numbers, i)
			}
		}
		p.IDs = nil
	}
}

// fanBits is how many bits of an id lead to the few objects that begin with them.
const fanBits = 16

func fanPlace(id format.ID) int { return int(binary.BigEndian.Uint16(id[:])) }

// fanOf counts sorted ids by their first bits: those that begin with less than n are fan[n].
func fanOf(ids []format.ID) []uint32 {
	fan := make([]uint32, 1<<fanBits+1)
	for _, id := range ids {
		fan[fanPlace(id)+1]++
	}
	for n := range 1 << fanBits {
		fan[n+1] += fan[n]
	}
	return fan
}

// Find returns the number of an object that the graph has.
func (g *Graph) Find(id format.ID) (uint32, bool) {
	at := fanPlace(id)
	lo, hi := g.fan[at], g.fan[at+1]
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch o := &g.Objects[mid]; o.ID.Compare(id) {
		case 0:
			return mid, true
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	n, ok := g.late[id]
	return n, ok
}

// Meet returns the number of an object, and reads the object if the graph does not have it yet.
func (g *Graph) Meet(id format.ID) (uint32, error) {
	if i, ok := g.Find(id); ok {
		return i, nil
	}
	if len(g.Objects) > edgeMask {
		return 0, errors.New("too many objects")
	}
	i := uint32(len(g.Objects))
	g.Objects = append(g.Objects, Object{ID: id, Kind: format.AnyKind})
	g.Marks = append(g.Marks, 0)
	if err := g.load(i); err != nil {
		g.Objects, g.Marks = g.Objects[:i], g.Marks[:i]
		return 0, err
	}
	g.late[id] = i
	return i, nil
}

// loaded is what the header of an object says.
type loaded struct {
	at      uint32
	err     error
	kind    format.ObjectKind
	message bool
	seq     uint64
	parents uint32
	edges   []Edge
	lost    []format.Link
	header  []byte // for check
	read    format.Object
}

// load reads the header of object i.
func (g *Graph) load(i uint32) error {
	l := g.look(i)
	g.take(l)
	if l.err != nil {
		delete(g.Bad, i)
	}
	return l.err
}

// look reads the header of object i. It changes nothing.
func (g *Graph) look(i uint32) loaded {
	header, err := g.s.Objects.Header(g.Objects[i].ID)
	if err != nil {
		return loaded{at: i, kind: format.AnyKind, err: err}
	}
	return g.lookAt(i, header)
}

// lookInto reads the headers of the objects of a block. It changes nothing, and leaves out what is
// not sound or was not met in the inventory.
func (g *Graph) lookInto(list []objects.Packed) []loaded {
	out := make([]loaded, 0, len(list))
	for _, o := range list {
		i, ok := g.Find(o.ID)
		if !ok {
			continue
		}
		if _, err := objects.Sound(o.ID, format.Raw{Header: o.Header}); err == nil {
			out = append(out, g.lookAt(i, o.Header))
		}
	}
	return out
}

// lookAt reads the header of object i.
func (g *Graph) lookAt(i uint32, header []byte) loaded {
	l := loaded{at: i, kind: format.AnyKind}
	var read format.Object
	if l.kind, read, l.err = format.DecodeObject(header); l.err != nil {
		l.kind = format.AnyKind
		return l
	}
	if g.check != nil {
		l.header, l.read = header, read
	}
	parents := 0
	if e, ok := read.(*format.Entry); ok {
		l.message, l.seq, parents = e.Kind == format.KindMessage, e.Seq, len(e.Parents)
	}
	l.parents = uint32(parents)
	links := read.Links()
	l.edges = make([]Edge, 0, len(links))
	for n, link := range links {
		to, ok := g.Find(link.ID)
		if !ok {
			l.lost = append(l.lost, link)
			if n < parents {
				l.parents--
			}
			continue
		}
		l.edges = append(l.edges, edgeTo(to, link.Want))
	}
	return l
}

// take adds what was read of an object.
func (g *Graph) take(l loaded) {
	o := &g.Objects[l.at]
	o.read = true
	if l.err != nil {
		g.Bad[l.at] = l.err
		return
	}
	if g.check != nil {
		g.check(o.ID, l.header, l.read)
	}
	o.Kind, o.Message, o.Seq, o.parents = l.kind, l.message, l.seq, l.parents
	o.start, o.links = uint32(len(g.edges)), uint32(len(l.edges))
	g.edges = append(g.edges, l.edges...)
	if len(l.lost) > 0 {
		g.Lost[l.at] = l.lost
	}
}

// Below returns the edges of object i.
func (g *Graph) Below(i uint32) []Edge {
	o := &g.Objects[i]
	return g.edges[o.start : o.start+o.links]
}

// ParentsOf returns the edges of entry i to its parents. The first parent is on its own branch.
func (g *Graph) ParentsOf(i uint32) []Edge {
	o := &g.Objects[i]
	return g.edges[o.start : o.start+o.parents]
}

// Walk visits objects and everything below them.
type Walk struct {
	*Graph
	Mark    Mark
	Stop    Mark                                              // what has one of these has all below it dealt with
	Visit   func(i uint32)                                    // told of each object once; nil for nobody
	Missing func(from uint32, l format.Link, why error) error // told of what cannot be read: l is zero for from itself; nil to pass it over
}

// From marks object i and everything below it. It does not walk below an object that has the mark
// already.
func (w *Walk) From(i uint32) error {
	stack := []uint32{i}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.Marks[top]&(w.Mark|w.Stop) != 0 {
			continue
		}
		w.Marks[top] |= w.Mark
		if w.Visit != nil {
			w.Visit(top)
		}
		if err := w.Bad[top]; err != nil && w.Missing != nil {
			if err := w.Missing(top, format.Link{}, err); err != nil {
				return err
			}
		}
		for _, e := range w.Below(top) {
			stack = append(stack, e.To())
		}
		for _, l := range w.Lost[top] {
			next, err := w.Meet(l.ID)
			if err == nil {
				stack = append(stack, next)
			} else if w.Missing != nil {
				if err := w.Missing(top, l, err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Progress is called during a long piece of work: done of total steps, and what is being done. It
// may be nil.
type Progress func(done, total int, what string)

func (p Progress) Tell(done, total int, what string) {
	if p != nil {
		p(done, total, what)
	}
}

// SortedIDs puts ids in order, in place.
func SortedIDs(ids []format.ID) []format.ID {
	slices.SortFunc(ids, format.ID.Compare)
	return ids
}

func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
