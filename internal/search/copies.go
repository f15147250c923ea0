package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// printOf returns a fingerprint of the words of a text. Texts with the same words in the same order
// have the same fingerprint; case, accents and punctuation are ignored. It returns 0 for a text
// without words.
func printOf(text string) uint64 {
	if !isASCIIText(text) {
		text = lowered(text)
	}
	h := uint64(14695981039346656037) // FNV-1a
	any, word := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !notInName(r) {
				for _, c := range []byte(text[i : i+size]) {
					h = (h ^ uint64(c)) * fnvPrime
				}
				i += size - 1
				any, word = true, true
				continue
			}
			i += size - 1
			c = ' '
		}
		if low := nameBytes[c]; low != 0 {
			h = (h ^ uint64(low)) * fnvPrime
			any, word = true, true
		} else if word {
			h = (h ^ ' ') * fnvPrime
			word = false
		}
	}
	if word {
		h = (h ^ ' ') * fnvPrime
	}
	if !any {
		return 0
	}
	return max(h, 1)
}

const fnvPrime = 1099511628211

// nameBytes has the ASCII letters, in lower case, and digits; 0 for other characters.
var nameBytes = [utf8.RuneSelf]byte{
	'0': '0', '1': '1', '2': '2', '3': '3', '4': '4', '5': '5', '6': '6', '7': '7', '8': '8',
	'9': '9', 'A': 'a', 'B': 'b', 'C': 'c', 'D': 'd', 'E': 'e', 'F': 'f', 'G': 'g', 'H': 'h',
	'I': 'i', 'J': 'j', 'K': 'k', 'L': 'l', 'M': 'm', 'N': 'n', 'O': 'o', 'P': 'p', 'Q': 'q',
	'R': 'r', 'S': 's', 'T': 't', 'U': 'u', 'V': 'v', 'W': 'w', 'X': 'x', 'Y': 'y', 'Z': 'z',
	'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd', 'e': 'e', 'f': 'f', 'g': 'g', 'h': 'h', 'i': 'i',
	'j': 'j', 'k': 'k', 'l': 'l', 'm': 'm', 'n': 'n', 'o': 'o', 'p': 'p', 'q': 'q', 'r': 'r',
	's': 's', 't': 't', 'u': 'u', 'v': 'v', 'w': 'w', 'x': 'x', 'y': 'y', 'z': 'z',
}

// gatherer makes hits of documents, one hit for all documents with the same words.
type gatherer struct {
	r    *ranking
	list []int32 // the items that match the options
	seen map[uint64]bool
}

// gather appends to hits the best items of list, by descending value, until there are most hits. A
// hit lists its copies, which are not hits of their own.
func (g *gatherer) gather(hits []Hit, list []int32, most int, value func(i int) float64) ([]Hit, error) {
	begin := len(hits)
	for n := 2*min(most-begin, len(list)) + 16; ; n *= 4 {
		n = min(n, len(list))
		ranked, err := g.r.inOrder(list, n, value)
		if err != nil {
			return nil, err
		}
		seen := map[uint64]bool{}
		hits, err = g.walk(hits[:begin], ranked, most, seen)
		if err != nil || len(hits) == most || n == len(list) {
			for print := range seen {
				g.seen[print] = true
			}
			return hits, err
		}
	}
}

// walk is gather for sorted items.
func (g *gatherer) walk(hits []Hit, ranked []int32, most int, seen map[uint64]bool) ([]Hit, error) {
	alike := map[uint64][]int32{}   // items of list by sign: copies have the same sign
	var known [1 << 16 / 64]uint64  // the bits of the short signs of ranked
	prints := map[uint64][]uint64{} // of the items in alike, where they are known
	for k, i := range ranked {
		sign := g.r.signOf(int(i))
		alike[sign] = nil
		if k < most-len(hits) {
			prints[sign] = []uint64{}
		}
		short := g.r.items[i].short
		known[short/64] |= 1 << (short % 64)
	}
	var first []int32 // the items in alike that are like the first of ranked
	for _, i := range g.list {
		if short := g.r.items[i].short; known[short/64]>>(short%64)&1 == 0 {
			continue
		}
		sign := g.r.signOf(int(i))
		if group, ok := alike[sign]; ok {
			alike[sign] = append(group, i)
			if prints[sign] != nil {
				first = append(first, i)
			}
		}
	}
	together, err := g.r.printsOf(first)
	if err != nil {
		return nil, err
	}
	for k, i := range first {
		sign := g.r.signOf(int(i))
		prints[sign] = append(prints[sign], together[k])
	}
	for _, i := range ranked {
		if len(hits) == most {
			break
		}
		print, err := g.r.print(i)
		if err != nil {
			return nil, err
		}
		if seen[print] || g.seen[print] {
			continue
		}
		same := []int32{i}
		if print != 0 {
			seen[print] = true
			sign := g.r.signOf(int(i))
			if prints[sign] == nil {
				if prints[sign], err = g.r.printsOf(alike[sign]); err != nil {
					return nil, err
				}
			}
			same = nil
			for k, other := range alike[sign] {
				if prints[sign][k] == print {
					same = append(same, other)
				}
			}
		}
		hit, err := g.hit(same)
		if err != nil {
			return nil, err
		}
		hit.Score = g.r.scoreOf(int(i))
		hits = append(hits, hit)
	}
	return hits, nil
}

// The documents whose prints are read at a time are at most printsGap apart and span at most
// printsAhead.
const (
	printsGap   = 256
	printsAhead = 2048
)

// printsOf returns the prints of the items of list, which is sorted.
func (r *ranking) printsOf(list []int32) ([]uint64, error) {
	prints := make([]uint64, 0, len(list))
	var b []byte
	for len(list) > 0 {
		first := &r.items[list[0]]
		last, n := first.doc, 1
		for n < len(list) {
			next := &r.items[list[n]]
			if next.source != first.source || next.doc <= last || next.doc-last > printsGap ||
				next.doc-first.doc >= printsAhead {
				break
			}
			last = next.doc
			n++
		}
		size := int(last-first.doc+1) * coldLen
		b = slices.Grow(b[:0], size)[:size]
		s := r.sources[first.source]
		if err := readFull(s.r, b, s.atCold+int64(first.doc)*coldLen); err != nil {
			return nil, err
		}
		for _, i := range list[:n] {
			at := int(r.items[i].doc-first.doc+1) * coldLen
			prints = append(prints, binary.BigEndian.Uint64(b[at-8:at]))
		}
		list = list[n:]
	}
	return prints, nil
}

func (r *ranking) print(i int32) (uint64, error) {
	it := &r.items[i]
	return r.sources[it.source].print(it.doc)
}

// hit makes one hit of documents with the same words. The first of them is chosen in this order: on
// a branch before rewound, a message before a note, of this store before of another, the newest,
// the smaller id. The others are its
// copies.
func (g *gatherer) hit(same []int32) (Hit, error) {
	type copied struct {
		Hit
		time   int64
		note   bool
		shared bool
	}
	list := make([]copied, len(same))
	for k, i := range same {
		it := &g.r.items[i]
		s := g.r.sources[it.source]
		id, version, err := s.Entry(it.doc)
		if err != nil {
			return Hit{}, err
		}
		when, _, err := s.cold(it.doc)
		if err != nil {
			return Hit{}, err
		}
		_, attr, _, err := s.hotRow(it.doc)
		if err != nil {
			return Hit{}, err
		}
		list[k] = copied{
			Hit:  Hit{ID: id, Version: version, Session: g.r.names[it.session], Seq: it.seq, Whole: int(it.has) == len(g.r.q.terms), Equal: it.equal, Rewound: s.Hidden[it.doc]},
			time: when.UnixMilli(), note: attr&attrNote != 0,
			shared: g.r.o.Shared != nil && g.r.o.Shared(g.r.names[it.session]),
		}
	}
	slices.SortFunc(list, func(a, b copied) int {
		return cmp.Or(compareBool(a.Rewound, b.Rewound), compareBool(a.note, b.note), compareBool(a.shared, b.shared), cmp.Compare(b.time, a.time), bytes.Compare(a.ID[:], b.ID[:]), bytes.Compare(a.Version[:], b.Version[:]))
	})
	hit := list[0].Hit
	for _, c := range list[1:] {
		hit.Copies = append(hit.Copies, c.Hit)
	}
	return hit, nil
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
