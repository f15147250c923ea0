package objects

import "sync"

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
		err = reader.eachTag(func(tag uint32) {
			f.bits[tag>>(32-filterBits)>>6] |= 1 << (tag >> (32 - filterBits) & 63)
		})
	}
	f.packs[p] = err == nil
	return err == nil
}
