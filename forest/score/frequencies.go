package score

// frequencies counts in how many recent units each term occurred. Counts are kept in buckets; terms
// that share a bucket are counted together and so weigh slightly too little. After maxUnits units
// all counts are halved, so that terms that were common long ago are forgotten.
type frequencies struct {
	units  int
	counts []uint16 // one count per bucket; nil before the first unit
}

const (
	buckets  = 1 << 12
	maxUnits = 1 << 12
	// A few units tell little about common terms, so each count starts as if there had been
	// priorUnits units before.
	priorUnits = 16
)

func bucket(key uint32) int { return int(key * 0x9E3779B1 >> 20) }

func (f *frequencies) add(b bag) {
	if f.counts == nil {
		f.counts = make([]uint16, buckets)
	}
	for _, c := range b {
		if n := &f.counts[bucket(c.key)]; int(*n) <= f.units {
			*n++
		}
	}
	if f.units++; f.units == maxUnits {
		f.units /= 2
		for i := range f.counts {
			f.counts[i] /= 2
		}
	}
}

// rarity returns the inverse document frequency of a term, log2((units + prior) / (occurrences +
// 1)), in 256ths.
func (f *frequencies) rarity(key uint32) int {
	n := 0
	if f.counts != nil {
		n = int(f.counts[bucket(key)])
	}
	if isOrdinary(key &^ artifact) {
		n += priorUnits / 4
	}
	return max(lg(f.units+priorUnits)-lg(n+1), 0)
}
