// Package terms turns the text of messages into tokens, and into bags of terms.
//
// It is pure: text in, tokens and bags out. Every result is the same on every platform and in every run, since decisions that
// rest on it are stored and replayed.
package terms

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Count is one term of a bag.
type Count struct {
	Term uint64 // FNV-1a, 64 bits, of the normalised term; see Scan for what that is
	N    uint32 // how often it occurs, at least 1; stays at the largest value rather than wrap
}

// Bag is a multiset of terms in ascending order of Term, each once. The nil bag is the empty one. Bags are values: no
// function of this package changes one that it was given.
type Bag []Count

// The bounds of a bag made from text.
const (
	MaxTerms = 2000      // distinct terms; one message with more is a listing, and its most frequent ones name it
	MaxText  = 256 << 10 // bytes of text looked at: what is longer counts with its first and its last half of this
)

// Of returns the bag of the terms that Scan finds in text. It looks at no more than MaxText bytes and keeps no more than
// MaxTerms terms, the most frequent ones, at equal counts those with the smaller Term. Text need not be UTF-8.
func Of(text string) Bag {
	head, tail := bound(text)
	found := make([]uint64, 0, min(len(text)/5+1, 4096))
	collect := func(t Token) { found = append(found, t.Term) }
	Scan(head, collect)
	Scan(tail, collect)
	return trim(tally(found), MaxTerms)
}

// bound cuts text to its first and last halves of MaxText, at the borders of runes. A short text is all head.
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

// trim cuts b, which it owns, to limit terms and leaves them in order.
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
