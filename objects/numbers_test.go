package objects

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// Numbers are those of a map, also for ids that begin alike.
func TestNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var n numbers
	want := map[format.ID]uint32{}
	id := func() (id format.ID) {
		if r.IntN(2) == 0 {
			binary.LittleEndian.PutUint64(id[:], r.Uint64())
		}
		binary.LittleEndian.PutUint64(id[8:], uint64(r.IntN(5000)))
		return id
	}
	for range 20_000 {
		a, v := id(), r.Uint32()
		n.put(a, v)
		want[a] = v
		if b := id(); true {
			got, ok := n.get(b)
			if v, there := want[b]; ok != there || got != v {
				t.Fatalf("%v: %d, %v instead of %d, %v", b, got, ok, v, there)
			}
		}
	}
	for a, v := range want {
		if got, ok := n.get(a); !ok || got != v {
			t.Fatalf("%v: %d, %v instead of %d", a, got, ok, v)
		}
	}
}
