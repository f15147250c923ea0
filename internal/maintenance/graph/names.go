package graph

import (
	"encoding/binary"

	"github.com/gemini-ctx/ctx/format"
)

// names are the ids of an inventory, sorted, with their places in it as numbers. It is what a graph
// lends to the store: other than the graph, it never changes.
type names struct {
	ids []format.ID
	fan []uint32 // by the first fanBits of an id: how many ids begin with less
}

func newNames(ids []format.ID) names { return names{ids: ids[:len(ids):len(ids)], fan: fanOf(ids)} }

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

func (n names) Len() int { return len(n.ids) }

func (n names) ID(i uint32) format.ID { return n.ids[i] }

func (n names) Find(id format.ID) (uint32, bool) {
	at := fanPlace(id)
	lo, hi := n.fan[at], n.fan[at+1]
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch n.ids[mid].Compare(id) {
		case 0:
			return mid, true
		case -1:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}
