package gc

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// arrange puts the objects for the new pack into the order in which they compress best: the
// entries, behind each what was made of it and of older ones (nodes, then summaries, then
// tombstones), and the rest at the end. So a pack stores most summaries beside the entries that
// they quote.
func (c *collector) arrange() {
	if len(c.toPack) == 0 {
		return
	}
	last := c.lastEntries()
	var count [other + 1]int
	for _, i := range c.toPack {
		count[rankOf(c.graph.Kind(i))]++
	}
	entries, rest := make([]uint32, 0, count[entry]), make([]uint32, 0, count[other])
	derived := make([]uint32, 0, len(c.toPack)-count[entry]-count[other])
	for _, i := range c.toPack {
		switch rankOf(c.graph.Kind(i)) {
		case entry:
			entries = append(entries, i)
		case other:
			rest = append(rest, i)
		default:
			derived = append(derived, i)
		}
	}
	slices.SortStableFunc(derived, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(last[a], last[b]),
			cmp.Compare(rankOf(c.graph.Kind(a)), rankOf(c.graph.Kind(b))))
	})
	list := c.toPack[:0]
	for at := 0; ; at++ {
		for len(derived) > 0 && last[derived[0]] <= uint32(at) {
			list, derived = append(list, derived[0]), derived[1:]
		}
		if at == len(entries) {
			break
		}
		list = append(list, entries[at])
	}
	c.toPack = append(list, rest...)
}

// The places of objects behind the last entry that they were made of.
const (
	entry = iota
	node
	summary
	tombstone
	other
)

func rankOf(k format.ObjectKind) int {
	switch k {
	case format.EntryKind:
		return entry
	case format.NodeKind:
		return node
	case format.SummaryKind:
		return summary
	case format.TombstoneKind:
		return tombstone
	}
	return other
}

// lastEntries returns, for the objects to pack, the place of the last entry that is to be packed
// and that they were made of, counted from 1; 0 for none.
func (c *collector) lastEntries() []uint32 {
	g := c.graph
	last := make([]uint32, g.Len())
	const unknown = 1<<32 - 1
	n := uint32(0)
	for _, i := range c.toPack {
		switch rankOf(g.Kind(i)) {
		case entry:
			n++
			last[i] = n
		case node, summary, tombstone:
			last[i] = unknown
		}
	}
	// What is below comes first. An object on the stack is 0 while what it names is looked at, so
	// damage that names in a circle ends as well.
	type step struct {
		at  uint32
		off int // the edge that is next
		max uint32
	}
	var stack []step
	for _, i := range c.toPack {
		if last[i] != unknown {
			continue
		}
		last[i] = 0
		stack = append(stack[:0], step{at: i})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			below := g.Below(top.at)
			if top.off == len(below) {
				last[top.at] = top.max
				most := top.max
				if stack = stack[:len(stack)-1]; len(stack) > 0 {
					stack[len(stack)-1].max = max(stack[len(stack)-1].max, most)
				}
				continue
			}
			to := below[top.off].To()
			top.off++
			if last[to] == unknown {
				last[to] = 0
				stack = append(stack, step{at: to})
				continue
			}
			top.max = max(top.max, last[to])
		}
	}
	return last
}
