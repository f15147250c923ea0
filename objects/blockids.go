package objects

import "sync"

// blockIDs keeps the ids of blocks of a pack, for who names their objects by number. Those of all
// blocks of a large pack take much memory, and mostly the next one that is asked for is near the
// last. So it lets go of those that were not asked for lately. A block whose ids are asked for
// again has to be unpacked again: where that happens often, it lets go of none any more. The zero
// value is empty. Several goroutines may use it.
type blockIDs struct {
	mu    sync.Mutex
	kept  map[int]*keptIDs // by block; nil for one that was let go
	held  int              // bytes of those that are kept
	clock int
	again int // how many were asked for again after they had been let go
}

type keptIDs struct {
	someIDs
	used int // by the clock
}

const (
	// mostIDs is how many bytes of ids are kept: those of half a million objects, or of four million
	// that the store was lent names of.
	mostIDs = 16 << 20
	// mostAgain is how often a block may have to be unpacked again: that takes some 20 ms.
	mostAgain = 64
)

// get returns the ids of a block, if they are kept.
func (b *blockIDs) get(block int) (ids someIDs, there bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k, met := b.kept[block]
	if k == nil {
		if met {
			b.again++
		}
		return ids, false
	}
	b.clock++
	k.used = b.clock
	return k.someIDs, true
}

// put keeps the ids of a block.
func (b *blockIDs) put(block int, ids someIDs) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil {
		b.kept = map[int]*keptIDs{}
	}
	if b.kept[block] != nil {
		return
	}
	b.clock++
	b.kept[block] = &keptIDs{ids, b.clock}
	for b.held += ids.size(); b.held > mostIDs && b.again < mostAgain; {
		oldest := -1
		for n, k := range b.kept {
			if k != nil && n != block && k.size() > 0 &&
				(oldest < 0 || k.used < b.kept[oldest].used) {
				oldest = n
			}
		}
		if oldest < 0 {
			return
		}
		b.held -= b.kept[oldest].size()
		b.kept[oldest] = nil
	}
}
