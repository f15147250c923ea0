package objects

import (
	"math/bits"
	"sync"
	"sync/atomic"

	packs "github.com/gemini-ctx/ctx/format/pack"
)

// filterAfter is how many questions for a source are answered pack by pack before a filter is
// built: one message asks one, and a bulk append as many as it has messages, which then cost the
// more the more packs it has written.
const filterAfter = 1024

// filterBits is how many bits a filter has: 8 MiB, so that of a million sources one and a half in
// a hundred others are taken for one of them.
const filterBits = 26

// sourceFilter knows of most sources that no pack has them. It may be wrong in the other direction
// alone, and is never smaller than what was put into it: packs that went away leave their bits.
type sourceFilter struct {
	mu    sync.Mutex
	asked int
	packs map[*pack]bool // those whose sources are in bits
	bits  []uint64
}

// excludes reports whether none of the packs has a source of this tag. It says no where it does
// not know.
func (f *sourceFilter) excludes(packs []*pack, tag uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked++; f.asked < filterAfter {
		return false
	}
	if f.bits == nil {
		f.bits, f.packs = make([]uint64, 1<<(filterBits-6)), map[*pack]bool{}
	}
	for _, p := range packs {
		if !f.packs[p] && !f.add(p) {
			return false
		}
	}
	return f.bits[tag>>(32-filterBits)>>6]&(1<<(tag>>(32-filterBits)&63)) == 0
}

func (f *sourceFilter) add(p *pack) bool {
	reader, err := p.open()
	if err == nil {
		err = reader.eachTag(func(tag uint32) { f.bits[tag>>(32-filterBits)>>6] |= 1 << (tag >> (32 - filterBits) & 63) })
	}
	f.packs[p] = err == nil
	return err == nil
}

// idFilter knows of most ids that a pack does not have them. A command that looks up many objects
// asks every pack, and all but one do not have what it looks for. The zero value is ready.
type idFilter struct {
	asked atomic.Int64
	bits  atomic.Pointer[[]uint64] // by the first bits of ids; empty where the index cannot be read
}

const (
	// idFilterAfter is how many look-ups of a pack cost about as much as to read its whole index.
	idFilterAfter = 256
	// idFilterBits is how many bits a filter has at least for an object, which is how many ids in a
	// hundred it takes for one of the pack: 6 to 12.
	idFilterBits = 8
)

// excludes reports whether the pack of an index has no id with a prefix. It says no where it does
// not know.
func (f *idFilter) excludes(x *packs.Index, prefix uint32) bool {
	set := f.bits.Load()
	if set == nil {
		if f.asked.Add(1) != idFilterAfter {
			return false
		}
		set = newIDFilter(x)
		f.bits.Store(set)
	}
	if len(*set) == 0 {
		return false
	}
	at := prefix >> (26 - bits.TrailingZeros(uint(len(*set))))
	return (*set)[at>>6]&(1<<(at&63)) == 0
}

func newIDFilter(x *packs.Index) *[]uint64 {
	words := 1 << min(26, bits.Len(uint(x.Len()*idFilterBits/64)))
	set := make([]uint64, words)
	shift := 26 - bits.TrailingZeros(uint(words))
	err := x.EachPrefix(func(prefix uint32) {
		at := prefix >> shift
		set[at>>6] |= 1 << (at & 63)
	})
	if err != nil {
		set = nil
	}
	return &set
}
