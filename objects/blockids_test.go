package objects

import (
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// The ids of blocks that were asked for lately are kept, within bounds, and those that share their
// memory always. Where many are asked for again, all stay.
func TestBlockIDs(t *testing.T) {
	const block, fit = 1 << 14, mostIDs / (1 << 14) / len(format.ID{})
	of := func(n int) someIDs {
		ids := make([]format.ID, block)
		ids[0][0], ids[0][1] = byte(n), byte(n>>8)
		return someIDs{ids: ids}
	}
	is := func(b *blockIDs, n int, want bool) {
		t.Helper()
		ids, there := b.get(n)
		if there != want || there && ids.at(0) != of(n).at(0) {
			t.Errorf("block %d: %v", n, there)
		}
	}
	var b blockIDs
	shared := of(1000)
	shared.shared = true
	b.put(1000, shared)
	is(&b, 0, false)
	for n := range 2 * fit {
		b.put(n, of(n))
		is(&b, 0, true) // is asked for all the time
		if b.held > mostIDs {
			t.Fatalf("%d bytes are held", b.held)
		}
	}
	is(&b, 1, false)
	is(&b, fit, false)
	is(&b, fit+2, true)
	is(&b, 2*fit-1, true)
	is(&b, 1000, true)
	for round := 0; b.again < mostAgain; round++ {
		if round > mostAgain {
			t.Fatalf("%d were asked for again", b.again)
		}
		for n := range 2 * fit {
			if _, there := b.get(n); !there {
				b.put(n, of(n))
			}
		}
	}
	for n := range 2 * fit {
		b.put(n, of(n))
	}
	for n := range 2 * fit {
		is(&b, n, true)
	}
}
