// Package graph reads what every object of a store names, and walks from refs and log records to
// all that they lead to. The other packages of internal/maintenance judge by it: what is reachable
// stays, what is missing is a fault. It reads headers alone, and writes nothing.
//
// Begin with Graph and Walk; roots.go says where walks begin, inventory.go where objects are.
// replay.go applies the decisions of the log to the forests where the kept log begins, and compares
// what comes out with what the log names: see Forests.Record.
package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// Graph holds every object of a store with its links. An object is known by its number: its place
// in the sorted list of ids, or for an object that came later, the order in which it was met. An
// object takes some 41 bytes, 4 more for each link, and 4 more where there is a check.
type Graph struct {
	s       *store.Opened
	ids     []format.ID
	objects []object                 // nil after LetGo
	few     map[uint32]*object       // those that were asked for since
	seqs    []uint32                 // of entries; nil for who does not ask, and after LetGoSeqs
	large   map[uint32]large         // the objects that do not fit into an object
	names   names                    // of those that the inventory had, which come first
	late    map[format.ID]uint32     // the numbers of the others
	edges   [][]Edge                 // in chunks of chunkEdges: those of an object stand together
	Lost    map[uint32][]format.Link // what an object names and was not met when it was read
	Bad     map[uint32]error         // objects that could not be read
	Marks   []Mark
	holes   map[uint32]bool // another header stands for the object

	long sync.Mutex // of who reads a long header
	eye  Eye
}

// Eye is told of each object whose header can be read. Its functions may be nil.
type Eye struct {
	// Judge returns the marks of an object. It is called for several objects at a time. Of one in a
	// pack, raw has the body that the pack has; it is not to be kept.
	Judge func(raw format.Raw, read format.Object) Mark
	// Tell is called for one object after the other, with its number.
	Tell func(i uint32, id format.ID, read format.Object)
}

// object is what the graph keeps of one object, besides its id.
type object struct {
	start   uint32 // of its edges: the chunk in the upper half, the place in the chunk in the lower
	links   uint16
	parents uint8 // the first so many edges
	what    what
}

// what is the kind of an object, and flags.
type what uint8

const (
	kindMask  what = 1<<edgeKinds - 1
	isMessage what = 1 << (edgeKinds + iota - 1)
	wasRead
	isLarge // the object is in Graph.large
)

// large is an object with a number that does not fit into an object: a forest with many clusters,
// or what a damaged header says.
type large struct {
	seq     uint64
	parents int
	edges   []Edge
}

// chunkEdges is how many edges a chunk has.
const chunkEdges = 1 << 16

// LetGo frees what the graph knows of objects but for their ids and marks, which is a third of its
// memory. What is asked for afterwards is read again, object by object: it is for who asks for
// little.
func (g *Graph) LetGo() {
	g.objects, g.edges, g.large, g.few = nil, nil, map[uint32]large{}, map[uint32]*object{}
}

// object returns what is known of object i, and reads the object where that was let go.
func (g *Graph) object(i uint32) *object {
	if g.few != nil && g.few[i] == nil {
		g.take(g.look(i))
	}
	return g.slot(i)
}

// slot returns where what is known of object i is kept.
func (g *Graph) slot(i uint32) *object {
	if g.few == nil {
		return &g.objects[i]
	}
	o := g.few[i]
	if o == nil {
		o = &object{what: what(format.AnyKind)}
		g.few[i] = o
	}
	return o
}

// Len returns the number of objects. Meet can add to them.
func (g *Graph) Len() int { return len(g.ids) }

// ID returns the id of object i.
func (g *Graph) ID(i uint32) format.ID { return g.ids[i] }

// Stands reports whether object i is lost, and another header stands for it: a guess.
func (g *Graph) Stands(i uint32) bool { return g.holes[i] }

// Holed reports whether there is an object that Stands tells.
func (g *Graph) Holed() bool { return len(g.holes) > 0 }

// Kind returns the kind of object i; AnyKind where it could not be read.
func (g *Graph) Kind(i uint32) format.ObjectKind {
	return format.ObjectKind(g.object(i).what & kindMask)
}

// Message reports whether object i is an entry that is a message.
func (g *Graph) Message(i uint32) bool { return g.object(i).what&isMessage != 0 }

// Seq returns the seq of entry i. Only a graph that was read with an eye knows it, until
// LetGoSeqs; otherwise the entry is read again, and the seq of one that cannot be read is 0.
func (g *Graph) Seq(i uint32) uint64 {
	switch {
	case g.object(i).what&isLarge != 0:
		return g.large[i].seq
	case g.seqs != nil:
		return uint64(g.seqs[i])
	}
	e, err := g.s.History.Header(g.ids[i])
	if err != nil {
		return 0
	}
	return e.Seq
}

// Clear takes marks from all objects.
func (g *Graph) Clear(m Mark) {
	for i := range g.Marks {
		g.Marks[i] &^= m
	}
}

// LetGoSeqs frees the seqs of the entries, for who will ask for few of them.
func (g *Graph) LetGoSeqs() { g.seqs = nil }

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
// headers lie there, and tells eye of them. The graph takes the list of ids over from the
// inventory.
func Read(
	ctx context.Context, s *store.Opened, inv *Inventory, eye Eye, progress Progress,
) (*Graph, error) {
	if len(inv.IDs) > edgeMask {
		return nil, fmt.Errorf("too many objects: %d", len(inv.IDs))
	}
	g := &Graph{
		s: s, ids: inv.IDs, names: newNames(inv.IDs),
		late: map[format.ID]uint32{}, large: map[uint32]large{},
		Lost: map[uint32][]format.Link{}, Bad: map[uint32]error{}, eye: eye,
	}
	inv.IDs = nil
	room := min(cap(g.ids), len(g.ids)+spareIDs)
	g.objects = make([]object, len(g.ids), room)
	g.Marks = make([]Mark, len(g.ids), room)
	if eye.Judge != nil || eye.Tell != nil {
		g.seqs = make([]uint32, len(g.ids), room)
	}
	for i := range g.objects {
		g.objects[i].what = what(format.AnyKind)
	}
	takeBack := g.Lend()
	if err := errors.Join(g.readAll(ctx, inv, progress), takeBack()); err != nil {
		return nil, err
	}
	progress.Tell(g.names.Len(), g.names.Len(), "reading")
	return g, ctx.Err()
}

// Lend has the store use the ids of the graph until takeBack is called, in place of ids of its own:
// see objects.Store.Lend. It is for who works with both.
func (g *Graph) Lend() (takeBack func() error) { return g.s.Objects.Lend(g.names) }

// readAll reads the objects of an inventory: each once, those of a pack block by block, several
// blocks at a time. What a pack lists and does not give is looked for by its id.
func (g *Graph) readAll(ctx context.Context, inv *Inventory, progress Progress) error {
	done := 0
	took := func() error {
		if done++; done%4096 == 0 {
			progress.Tell(done, g.names.Len(), "reading")
			return ctx.Err()
		}
		return nil
	}
	g.holes = map[uint32]bool{}
	for _, id := range inv.Holes {
		if i, ok := g.Find(id); ok && g.s.Objects.StandsFor(id) {
			g.holes[i] = true
		}
	}
	for _, id := range slices.Concat(inv.Logged, inv.Holes) {
		i, ok := g.Find(id)
		if !ok || g.objects[i].what&wasRead != 0 {
			continue
		}
		g.take(g.look(i))
		if err := took(); err != nil {
			return err
		}
	}
	for _, p := range inv.Packs {
		var stopped error
		_ = objects.EachBlock(g.s.Objects, p.ID, g.lookInto, func(list []loaded) error {
			for _, l := range list {
				if g.objects[l.at].what&wasRead != 0 {
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
			if g.objects[i].what&wasRead != 0 {
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

// Find returns the number of an object that the graph has.
func (g *Graph) Find(id format.ID) (uint32, bool) {
	if n, ok := g.names.Find(id); ok {
		return n, true
	}
	n, ok := g.late[id]
	return n, ok
}

// Meet returns the number of an object, and reads the object if the graph does not have it yet.
func (g *Graph) Meet(id format.ID) (uint32, error) {
	if i, ok := g.Find(id); ok {
		return i, nil
	}
	if len(g.ids) > edgeMask {
		return 0, errors.New("too many objects")
	}
	i := uint32(len(g.ids))
	g.ids = append(g.ids, id)
	if g.few == nil {
		g.objects = append(g.objects, object{what: what(format.AnyKind)})
	}
	g.Marks = append(g.Marks, 0)
	if g.seqs != nil {
		g.seqs = append(g.seqs, 0)
	}
	if err := g.load(i); err != nil {
		g.ids, g.Marks = g.ids[:i], g.Marks[:i]
		g.objects, g.seqs = g.objects[:min(int(i), len(g.objects))],
			g.seqs[:min(int(i), len(g.seqs))]
		delete(g.few, i)
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
	parents int
	edges   []Edge
	lost    []format.Link
	marks   Mark
	read    format.Object // for Eye.Tell
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
	var raw format.Raw
	var err error
	if g.eye.Judge != nil {
		raw, _ = g.s.Objects.Get(g.ids[i]) // where there is no body, the header is read alone
	}
	if raw.Header == nil {
		raw.Header, err = g.s.Objects.Header(g.ids[i])
	}
	if err != nil {
		return loaded{at: i, kind: format.AnyKind, err: err}
	}
	return g.lookAt(i, raw)
}

// lookInto reads the headers of the objects of a block. It changes nothing, and leaves out what was
// not met in the inventory.
func (g *Graph) lookInto(list []objects.Packed) []loaded {
	out := make([]loaded, 0, len(list))
	for _, o := range list {
		i, ok := g.Find(o.ID)
		if !ok {
			continue
		}
		raw := format.Raw{Header: o.Header, Body: o.Body}
		if len(o.Header) < longHeader {
			out = append(out, g.lookAt(i, raw))
			continue
		}
		g.long.Lock()
		out = append(out, g.lookAt(i, raw))
		g.long.Unlock()
	}
	return out
}

// longHeader is how many bytes a header has that is read alone: one of a forest of many clusters
// takes five times as much memory while it is read.
const longHeader = 4 << 20

// lookAt reads the header of object i.
func (g *Graph) lookAt(i uint32, raw format.Raw) loaded {
	l := loaded{at: i, kind: format.AnyKind}
	var read format.Object
	if l.kind, read, l.err = format.DecodeObject(raw.Header); l.err != nil {
		l.kind = format.AnyKind
		return l
	}
	if g.eye.Judge != nil {
		l.marks = g.eye.Judge(raw, read)
	}
	if g.eye.Tell != nil {
		l.read = read
	}
	parents := 0
	if e, ok := read.(*format.Entry); ok {
		l.message, l.seq, parents = e.Kind == format.KindMessage, e.Seq, len(e.Parents)
	}
	l.parents = parents
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
	o := g.slot(l.at)
	o.what |= wasRead
	if l.err != nil {
		g.Bad[l.at] = l.err
		return
	}
	g.Marks[l.at] |= l.marks
	if g.eye.Tell != nil {
		g.eye.Tell(l.at, g.ids[l.at], l.read)
	}
	o.what = what(l.kind) | wasRead
	if l.message {
		o.what |= isMessage
	}
	if len(l.lost) > 0 {
		g.Lost[l.at] = l.lost
	}
	start, ok := g.place(l.edges)
	if !ok || l.seq > math.MaxUint32 || l.parents > math.MaxUint8 {
		o.what |= isLarge
		g.large[l.at] = large{seq: l.seq, parents: l.parents, edges: l.edges}
		return
	}
	o.start, o.links, o.parents = start, uint16(len(l.edges)), uint8(l.parents)
	if g.seqs != nil {
		g.seqs[l.at] = uint32(l.seq)
	}
}

// place keeps edges in a chunk, and returns where; ok is false for more than a chunk is for.
func (g *Graph) place(edges []Edge) (start uint32, ok bool) {
	if len(edges) >= chunkEdges {
		return 0, false
	}
	last := len(g.edges) - 1
	if last < 0 || len(g.edges[last])+len(edges) > chunkEdges {
		if len(g.edges) == chunkEdges {
			return 0, false
		}
		g.edges = append(g.edges, make([]Edge, 0, chunkEdges))
		last++
	}
	// A chunk that is full has no place for the edges of an object without any.
	at := min(len(g.edges[last]), chunkEdges-1)
	g.edges[last] = append(g.edges[last], edges...)
	return uint32(last*chunkEdges + at), true
}

// Below returns the edges of object i.
func (g *Graph) Below(i uint32) []Edge {
	o := g.object(i)
	switch {
	case o.what&isLarge != 0:
		return g.large[i].edges
	case o.links == 0:
		return nil
	}
	chunk, at := g.edges[o.start/chunkEdges], o.start%chunkEdges
	return chunk[at : at+uint32(o.links)]
}

// ParentsOf returns the edges of entry i to its parents. The first parent is on its own branch.
func (g *Graph) ParentsOf(i uint32) []Edge {
	o := g.object(i)
	parents := int(o.parents)
	if o.what&isLarge != 0 {
		parents = g.large[i].parents
	}
	return g.Below(i)[:parents]
}

// Walk visits objects and everything below them.
type Walk struct {
	*Graph
	Mark Mark
	// What has one of these has all below it dealt with
	Stop Mark
	// Told of each object once; nil for nobody
	Visit func(i uint32)
	// Told of what cannot be read: l is zero for from itself; nil to pass it over
	Missing func(from uint32, l format.Link, why error) error
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
		below := w.Below(top)
		if err := w.Bad[top]; err != nil && w.Missing != nil {
			if err := w.Missing(top, format.Link{}, err); err != nil {
				return err
			}
		}
		for _, e := range below {
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
