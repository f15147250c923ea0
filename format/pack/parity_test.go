package pack

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// protect returns data with its parity and trailer, as a pack ends, and its id.
func protect(data []byte) ([]byte, format.ID) {
	var p Parity
	_, _ = p.Write(data)
	b := append(bytes.Clone(data), p.Bytes()...)
	id := format.ID(sha256.Sum256(b))
	return append(b, id[:]...), id
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// A flipped bit comes back wherever it is: in the blocks, the parity, the CRCs, the foot and the
// trailer. So does a page of 4 KiB of the blocks that became zeros.
func TestRestore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range thirds.Of(t, []int{1, sectorSize, 5 * sectorSize, 20_000, 83_000, segmentSize,
		segmentSize + 1, 2*segmentSize + 70_001}) {
		data := randomBytes(r, n)
		whole, id := protect(data)
		if want := paritySize(int64(n)); int64(len(whole)-n-Trailer) != want {
			t.Errorf("%d bytes: parity of %d bytes, %d expected", n, len(whole)-n-Trailer, want)
		}
		for range 200 {
			b := bytes.Clone(whole)
			at := r.IntN(len(b))
			b[at] ^= 1 << r.IntN(8)
			if got, err := Restore(b, id); err != nil || !bytes.Equal(got, whole) {
				t.Fatalf("%d bytes, bit at %d of %d: %v", n, at, len(whole), err)
			}
		}
		if n < segmentSize {
			continue
		}
		for range 50 {
			b := bytes.Clone(whole)
			at := r.IntN(n - 4096)
			clear(b[at : at+4096])
			if got, err := Restore(b, id); err != nil || !bytes.Equal(got, whole) {
				t.Fatalf("%d bytes, page at %d: %v", n, at, err)
			}
		}
	}
}

// What is damaged in too many places, cut short or of another id is refused.
func TestRestoreTooMuch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	whole, id := protect(randomBytes(r, 100_000))
	twice := bytes.Clone(whole)
	twice[0] ^= 1
	twice[segmentGroups*sectorSize] ^= 1 // of the same group
	for name, b := range map[string][]byte{
		"two sectors of a group": twice,
		"cut":                    bytes.Clone(whole[:len(whole)-1]),
		"empty":                  {},
		"a foot alone":           bytes.Clone(whole[len(whole)-Trailer-parityFoot:]),
	} {
		if _, err := Restore(b, id); err == nil {
			t.Errorf("%s: restored", name)
		}
	}
	if _, err := Restore(bytes.Clone(whole), format.ID{1}); err == nil {
		t.Error("another id: restored")
	}
}
