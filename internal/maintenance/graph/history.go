package graph

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"

	"container/heap"
)

// The sides of a join that an entry is on.
const (
	ownSide   = 1 << iota // its first parent stands on it
	otherSide             // another parent does
)

// Brought returns the messages that a join brings to its branch: the further parents stand on
// them and the first parent does not. It looks back no further than to where the parents part. It
// relies on no entry having a higher seq than its children, which fsck checks elsewhere.
func (g *Graph) Brought(join uint32) []uint32 {
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
	for n, e := range g.ParentsOf(join) {
		if n == 0 {
			paint(e.To(), ownSide)
		} else {
			paint(e.To(), otherSide)
		}
	}
	// What stands on an entry has its seq or a higher one, and may have the same: as long as such
	// are in the queue, the first parent may reach it yet.
	low := ^uint64(0)
	for others > 0 || queue.Len() > 0 && g.Seq(queue.list[0].at) >= low {
		p := heap.Pop(queue).(painted)
		if p.sides == otherSide {
			others--
			low = min(low, g.Seq(p.at))
		}
		for _, e := range g.ParentsOf(p.at) {
			paint(e.To(), sides[p.at])
		}
	}
	var list []uint32
	for i, on := range sides {
		if on == otherSide && g.Message(i) {
			list = append(list, i)
		}
	}
	return list
}

// painted is an entry in the queue, with the sides that it was on when it was queued.
type painted struct {
	at    uint32
	sides uint8
}

// bySeq is a queue of entries, the highest seq first.
type bySeq struct {
	g    *Graph
	list []painted
}

func (q *bySeq) Len() int { return len(q.list) }

func (q *bySeq) Less(i, j int) bool {
	return q.g.Seq(q.list[i].at) > q.g.Seq(q.list[j].at)
}

func (q *bySeq) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

func (q *bySeq) Push(x any) { q.list = append(q.list, x.(painted)) }

func (q *bySeq) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

// Tip is an entry that no ref, no record and no other unreachable entry names.
type Tip struct {
	ID    format.ID
	Entry *format.Entry
}

// DanglingTips returns the tips among the objects without the mark Reached, the newest first.
func DanglingTips(g *Graph) []Tip {
	below := map[uint32]bool{}
	for i, marks := range g.Marks {
		if marks&Reached == 0 && g.Kind(uint32(i)) == format.EntryKind {
			for _, e := range g.ParentsOf(uint32(i)) {
				below[e.To()] = true
			}
		}
	}
	var tips []Tip
	for n, marks := range g.Marks {
		i := uint32(n)
		if marks&Reached != 0 || g.Kind(i) != format.EntryKind || below[i] || g.Bad[i] != nil {
			continue
		}
		if e, err := g.s.History.Header(g.ids[i]); err == nil { // else it is told with its file
			tips = append(tips, Tip{g.ids[i], e})
		}
	}
	slices.SortFunc(tips, func(a, b Tip) int {
		if c := b.Entry.Time.Compare(a.Entry.Time); c != 0 {
			return c
		}
		return a.ID.Compare(b.ID)
	})
	return tips
}

// EpochAt returns the epoch that is named by the nearest epoch entry from entry i back along
// first parents, whether or not that epoch is stored. It returns the zero id where there is no
// epoch entry.
func (g *Graph) EpochAt(i uint32) format.ID {
	for {
		for _, e := range g.Below(i) {
			if e.Want() == format.EpochKind {
				return g.ID(e.To())
			}
		}
		for _, l := range g.Lost[i] {
			if l.Want == format.EpochKind {
				return l.ID
			}
		}
		up := g.ParentsOf(i)
		if len(up) == 0 {
			return format.ID{}
		}
		i = up[0].To()
	}
}
