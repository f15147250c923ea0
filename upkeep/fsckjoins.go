package upkeep

import (
	"container/heap"

	"github.com/gemini-ctx/ctx/format"
)

// The sides of a join that an entry is on.
const (
	ownSide   = 1 << iota // its first parent stands on it
	otherSide             // another parent does
)

// brought returns the messages that a join brings to its branch: those that its further parents stand on and its first does not. It looks no further back than
// to where they part, as long as no entry has a higher seq than what follows it, which is told elsewhere.
func (g *graph) brought(join uint32) []uint32 {
	sides := map[uint32]uint8{}
	queue := &bySeq{g: g}
	others := 0 // in the queue, of what is on other sides alone
	paint := func(i uint32, with uint8) {
		had := sides[i]
		if had|with == had {
			return
		}
		sides[i] = had | with
		heap.Push(queue, painted{i, had | with})
		if had|with == otherSide {
			others++
		}
	}
	for n, e := range g.parentsOf(join) {
		if n == 0 {
			paint(e.to(), ownSide)
		} else {
			paint(e.to(), otherSide)
		}
	}
	// What stands on an entry has its seq or a higher one, and may have the same: as long as such are in the queue, the first parent may reach it yet.
	low := ^uint64(0)
	for others > 0 || queue.Len() > 0 && g.objects[queue.list[0].at].seq >= low {
		p := heap.Pop(queue).(painted)
		if p.sides == otherSide {
			others--
			low = min(low, g.objects[p.at].seq)
		}
		for _, e := range g.parentsOf(p.at) {
			paint(e.to(), sides[p.at])
		}
	}
	var list []uint32
	for i, on := range sides {
		if on == otherSide && g.objects[i].message {
			list = append(list, i)
		}
	}
	return list
}

// painted is an entry in a queue, with the sides it was on when it came there.
type painted struct {
	at    uint32
	sides uint8
}

// bySeq is a queue of entries, the highest seq first.
type bySeq struct {
	g    *graph
	list []painted
}

func (q *bySeq) Len() int { return len(q.list) }
func (q *bySeq) Less(i, j int) bool {
	return q.g.objects[q.list[i].at].seq > q.g.objects[q.list[j].at].seq
}
func (q *bySeq) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *bySeq) Push(x any)    { q.list = append(q.list, x.(painted)) }
func (q *bySeq) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

// markJoin marks what a join on a branch's line brought, as far as it is up to the frontier.
func (f *checker) markJoin(tip, join uint32, frontier uint64) {
	g := f.graph
	came := g.brought(join)
	if g.objects[join].seq <= frontier {
		for _, i := range came {
			g.marks[i] |= due
		}
		return
	}
	before := uint64(0)
	if up := g.parentsOf(join); len(up) > 0 {
		before = g.objects[up[0].to()].seq
	}
	if before >= frontier || len(came) == 0 {
		return
	}
	// The frontier is amid what it brought: the order decides.
	upTo := map[format.ID]bool{}
	_ = f.s.Back(g.objects[tip].id, func(id format.ID, e *format.Entry) bool {
		upTo[id] = e.Seq <= frontier
		return e.Seq > before
	}) // what cannot be read is told elsewhere
	for _, i := range came {
		if upTo[g.objects[i].id] {
			g.marks[i] |= due
		}
	}
}
