package objects

import (
	"encoding/binary"
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
	other numbers
}

func newNumbering(names Names) numbering {
	n := numbering{names: names}
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
	return n.other.get(id)
}

// put gives an id a number, in place of the one that it has.
func (n *numbering) put(id format.ID, number uint32) {
	if n.names != nil {
		if at, known := n.names.Find(id); known {
			n.named[at] = number + 1
			return
		}
	}
	n.other.put(id, number)
}

// numbers maps ids to numbers, in 24 to 36 bytes an id; a map would take three times as much. It
// tells ids apart by their first 16 bytes: two that have these in common cannot be made.
type numbers struct {
	keys   []numberKey
	values []uint32
	slots  []uint32 // of keys, by hash: 1 more than the index; 0 for none
}

type numberKey [16]byte

func (n *numbers) slot(k numberKey) int {
	mask := len(n.slots) - 1
	// The bytes are those of a digest.
	at := int(binary.LittleEndian.Uint64(k[:])&(1<<62-1)) & mask
	for n.slots[at] != 0 && n.keys[n.slots[at]-1] != k {
		at = (at + 1) & mask
	}
	return at
}

// get returns the number of an id; ok is false for one that was not added.
func (n *numbers) get(id format.ID) (number uint32, ok bool) {
	if len(n.keys) == 0 {
		return 0, false
	}
	at := n.slots[n.slot(numberKey(id[:16]))]
	if at == 0 {
		return 0, false
	}
	return n.values[at-1], true
}

// put gives an id a number, in place of the one that it has.
func (n *numbers) put(id format.ID, number uint32) {
	if 4*len(n.keys) >= 3*len(n.slots) {
		n.grow()
	}
	k := numberKey(id[:16])
	at := n.slot(k)
	if n.slots[at] == 0 {
		n.keys, n.values = append(n.keys, k), append(n.values, number)
		n.slots[at] = uint32(len(n.keys))
		return
	}
	n.values[n.slots[at]-1] = number
}

func (n *numbers) grow() {
	n.slots = make([]uint32, max(64, 2*len(n.slots)))
	for i, k := range n.keys {
		n.slots[n.slot(k)] = uint32(i + 1)
	}
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
