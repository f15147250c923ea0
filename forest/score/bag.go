package score

import (
	"cmp"
	_ "embed" // the table
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// count is a term and how often it occurs. The lowest bit of key is set for an artifact.
type count struct {
	key uint32
	n   uint16
}

// artifact marks the key of a term that names one thing: a path, identifier, flag, address, version
// or number. All other terms are words.
const artifact = 1

// bag is a multiset of terms: each term once, sorted by key.
type bag []count

const (
	maxTerms = 224 // distinct terms of a message
	// Bytes of a message that are examined: half of them at its start, half at its end
	maxText  = 32 << 10
	maxCount = 1<<16 - 1
)

// bagOf returns the most frequent terms of a text.
func bagOf(text string) bag { return allOf(text).trim(maxTerms) }

// allOf returns all terms of a text. Scripts such as Chinese have words of one character; each of
// these is counted as a pair with the character before it.
func allOf(text string) bag {
	keys := make([]uint32, 0, min(len(text), maxText)/8) // mostly enough
	var last terms.Token
	scan := func(text string) {
		last = terms.Token{End: -1}
		terms.Scan(text, func(t terms.Token) {
			h := t.Term
			single := t.Kind == terms.Word && t.End-t.Start >= 3 && t.End-t.Start <= 4 &&
				text[t.Start] >= 0xE2
			if single && last.End == t.Start {
				h = (last.Term ^ h) * 1099511628211
			}
			last = terms.Token{End: -1}
			if single {
				last = t
			}
			key := uint32(h^h>>32) &^ artifact
			if t.Kind == terms.Name || t.Kind == terms.Number {
				key |= artifact
			}
			keys = append(keys, key)
		})
	}
	if len(text) > maxText {
		scan(text[:maxText/2])
		text = text[len(text)-maxText/2:]
	}
	scan(text)
	slices.Sort(keys)
	b := make(bag, 0, len(keys))
	for _, k := range keys {
		if n := len(b); n > 0 && b[n-1].key == k {
			b[n-1].n += 1 - b[n-1].n/maxCount
		} else {
			b = append(b, count{key: k, n: 1})
		}
	}
	return b
}

// trim keeps the most frequent terms. At equal counts words go before artifacts, and small keys
// before large ones.
func (b bag) trim(limit int) bag {
	if len(b) <= limit {
		return b
	}
	slices.SortFunc(b, func(x, y count) int {
		return cmp.Or(cmp.Compare(y.n, x.n), cmp.Compare(y.key&artifact, x.key&artifact),
			cmp.Compare(x.key, y.key))
	})
	b = b[:limit]
	slices.SortFunc(b, func(x, y count) int { return cmp.Compare(x.key, y.key) })
	return b
}

// plus returns the union of two bags. The counts of common terms are added.
func (b bag) plus(c bag) bag {
	if len(b) == 0 {
		return c
	}
	sum := make(bag, 0, len(b)+len(c))
	for len(b) > 0 && len(c) > 0 {
		switch {
		case b[0].key < c[0].key:
			sum, b = append(sum, b[0]), b[1:]
		case b[0].key > c[0].key:
			sum, c = append(sum, c[0]), c[1:]
		default:
			sum = append(sum,
				count{key: b[0].key, n: uint16(min(int(b[0].n)+int(c[0].n), maxCount))})
			b, c = b[1:], c[1:]
		}
	}
	return append(append(sum, b...), c...)
}

// artifacts returns the artifacts of a bag.
func (b bag) artifacts() bag {
	var m bag
	for _, c := range b {
		if c.key&artifact != 0 {
			m = append(m, c)
		}
	}
	return m
}

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

// ordinaryText holds the terms of the words in ordinary_test.go, in order, each in eight digits: a
// process would need longer to look at the words than to append a message.
//
//go:embed ordinary.txt
var ordinaryText string

var ordinary struct {
	once  sync.Once
	terms []uint32
}

// isOrdinary reports whether a term does not separate topics where people work on programs or talk
// about them. The units so far show which terms are common only after a while; the table serves
// until then.
func isOrdinary(key uint32) bool {
	ordinary.once.Do(func() {
		for line := range strings.Lines(ordinaryText) {
			n, _ := strconv.ParseUint(strings.TrimSpace(line), 16, 32) // a test has looked
			ordinary.terms = append(ordinary.terms, uint32(n))
		}
	})
	_, found := slices.BinarySearch(ordinary.terms, key)
	return found
}
