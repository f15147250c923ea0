package objects

import (
	"encoding/binary"

	"github.com/gemini-ctx/ctx/format"
)

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
