// Package terms divides the text of messages into tokens, and counts their terms in bags.
//
// The package is pure: text goes in, tokens and bags come out. Results are the same on every
// platform and in every run, because stored decisions depend on them. Begin with Scan and Of.
package terms

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Count is one term of a bag.
type Count struct {
	Term uint64 // 64-bit FNV-1a of the normalized term; see Scan
	N    uint32 // number of occurrences, at least 1; stays at the largest value instead of wrapping
}

// Bag is a multiset of terms: each term once, sorted by Term. A nil Bag is empty. Functions of this
// package do not change the bags that they are given.
type Bag []Count

// The limits of a bag that Of makes.
const (
	// Distinct terms; of a listing with more, the most frequent ones are enough
	MaxTerms = 2000
	// Bytes of text that are examined; of a longer text the first and the last half of this number
	MaxText = 256 << 10
)

// Of returns the bag of the terms that Scan finds in text. It examines at most MaxText bytes and
// keeps the MaxTerms most frequent terms; at equal counts, those with the smaller Term. text need
// not be UTF-8.
func Of(text string) Bag {
	head, tail := bound(text)
	found := make([]uint64, 0, min(len(text)/5+1, 4096))
	collect := func(t Token) { found = append(found, t.Term) }
	Scan(head, collect)
	Scan(tail, collect)
	return trim(tally(found), MaxTerms)
}

// bound returns the first and the last half of MaxText bytes of a long text, cut between runes. A
// short text is all head.
func bound(text string) (head, tail string) {
	if len(text) <= MaxText {
		return text, ""
	}
	i, j := MaxText/2, len(text)-MaxText/2
	for i > 0 && !utf8.RuneStart(text[i]) && i > MaxText/2-utf8.UTFMax {
		i--
	}
	for j < len(text) && !utf8.RuneStart(text[j]) && j < len(text)-MaxText/2+utf8.UTFMax {
		j++
	}
	return text[:i], text[j:]
}

// tally sorts found and counts equal terms.
func tally(found []uint64) Bag {
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	distinct := 1
	for i := 1; i < len(found); i++ {
		if found[i] != found[i-1] {
			distinct++
		}
	}
	bag := make(Bag, 0, distinct)
	for _, t := range found {
		if n := len(bag); n > 0 && bag[n-1].Term == t {
			bag[n-1].N++
		} else {
			bag = append(bag, Count{Term: t, N: 1})
		}
	}
	return bag
}

// trim shortens b to limit terms and sorts the result. It changes b.
func trim(b Bag, limit int) Bag {
	if limit = max(limit, 0); len(b) > limit {
		slices.SortFunc(b, func(x, y Count) int {
			return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Term, y.Term))
		})
		b = b[:limit]
		slices.SortFunc(b, func(x, y Count) int { return cmp.Compare(x.Term, y.Term) })
	}
	if len(b) == 0 {
		return nil
	}
	return b
}
