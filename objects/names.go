package objects

import (
	"sync"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// Names gives ids numbers, for who has the ids of a store in memory anyway. It never changes, and
// several goroutines may ask it.
type Names interface {
	// Len returns how many ids it has. Their numbers are less.
	Len() int
	// Find returns the number of an id; ok is false for an id that it does not have.
	Find(id format.ID) (number uint32, ok bool)
	// ID returns the id of a number that Find returned.
	ID(number uint32) format.ID
}

// Lend gives the store names until takeBack is called, which also closes the store as Close does.
// Where the store has to remember an id that they have, it remembers 4 bytes in place of 32. That
// is worth it for a caller that goes over all of a store.
func (s *Store) Lend(n Names) (takeBack func() error) {
	set := func(n Names) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.names = n
	}
	set(n)
	return func() error {
		set(nil)
		return s.Close()
	}
}

// lent returns the names that the store was lent; nil for none.
func (s *Store) lent() Names {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names
}

// someIDs are the ids of a block: as numbers where names have all of them.
type someIDs struct {
	ids     []format.ID
	names   Names
	numbers []uint32
	shared  bool // ids are in memory anyway
}

// size returns how many bytes of memory they take.
func (d someIDs) size() int {
	if d.shared {
		return 0
	}
	return len(d.ids)*len(format.ID{}) + 4*len(d.numbers)
}

// idsOf returns the ids of objects.
func (s *Store) idsOf(list []packs.Object) someIDs {
	if names := s.lent(); names != nil {
		numbers := make([]uint32, 0, len(list))
		for _, o := range list {
			n, ok := names.Find(o.ID)
			if !ok {
				break
			}
			numbers = append(numbers, n)
		}
		if len(numbers) == len(list) {
			return someIDs{names: names, numbers: numbers}
		}
	}
	ids := make([]format.ID, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return someIDs{ids: ids}
}

func (d someIDs) at(i int) format.ID {
	if d.names != nil {
		return d.names.ID(d.numbers[i])
	}
	return d.ids[i]
}

// numbering maps ids to numbers below 1<<32 - 1: those that names have in 4 bytes each.
type numbering struct {
	names Names // nil for none
	named []uint32
	other map[idStart]uint32
}

// idStart is what numbering tells ids apart by, for the memory: two ids that begin with the same 16
// bytes cannot be made.
type idStart [16]byte

func newNumbering(names Names) numbering {
	n := numbering{names: names, other: map[idStart]uint32{}}
	if names != nil {
		n.named = make([]uint32, names.Len())
	}
	return n
}

// get returns the number of an id; ok is false for one that was not added.
func (n *numbering) get(id format.ID) (number uint32, ok bool) {
	if n.names != nil {
		if at, known := n.names.Find(id); known {
			return n.named[at] - 1, n.named[at] != 0
		}
	}
	number, ok = n.other[idStart(id[:16])]
	return number, ok
}

// put gives an id a number, in place of the one that it has.
func (n *numbering) put(id format.ID, number uint32) {
	if n.names != nil {
		if at, known := n.names.Find(id); known {
			n.named[at] = number + 1
			return
		}
	}
	n.other[idStart(id[:16])] = number
}

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
