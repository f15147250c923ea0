// Package search ranks messages by how well they answer a query, and holds the form of the index that makes that fast.
//
// It is pure: documents, bytes and queries in, bytes and ranks out. Scores are the same bits on every platform.
package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/terms"
	"github.com/gemini-ctx/ctx/format"
)

// Doc is a message or a note as the index sees it.
type Doc struct {
	ID      format.ID // the entry
	Version format.ID // the entry that has its text: ID, or an amend
	Session string
	Seq     uint64 // its place in the conversation: what is near in seq was said in one breath
	Role    string
	Author  string
	Note    bool
	Calls   bool // it calls tools
	Time    time.Time
	Text    string
}

// The bounds of a document. A message with more distinct terms is a listing, and its most frequent ones name it.
const (
	maxTerms = terms.MaxTerms
	maxText  = terms.MaxText
	maxCount = 255
)

// posting is one term of one document.
type posting struct {
	term  uint64
	doc   uint32
	count uint8 // how often, in halves: a word or a name counts 2, a part of a name 1
}

// analysed is what is kept of a text.
type analysed struct {
	counts   []posting // in ascending order of term
	length   uint8     // see lengthOf
	question bool      // it ends with a question mark
	number   bool      // it has a number
	when     bool      // it says when
}

// analyse takes a text apart. It looks at no more than maxText bytes of it, and keeps its maxTerms most frequent terms.
func analyse(text string) analysed {
	text = cutText(text)
	var found []posting
	var a analysed
	length := 0
	scan(Fold(text), func(t terms.Token, word string) {
		n := uint8(2)
		if t.Kind == terms.Part {
			n = 1
		} else {
			length++
			a.number = a.number || t.Kind == terms.Number
			a.when = a.when || tellsTime(word)
		}
		found = append(found, posting{term: t.Term, count: n})
	})
	slices.SortFunc(found, func(a, b posting) int { return cmp.Compare(a.term, b.term) })
	kept := found[:0]
	for _, p := range found {
		if n := len(kept); n > 0 && kept[n-1].term == p.term {
			kept[n-1].count = uint8(min(int(kept[n-1].count)+int(p.count), maxCount))
		} else {
			kept = append(kept, p)
		}
	}
	if len(kept) > maxTerms {
		slices.SortFunc(kept, func(a, b posting) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.term, b.term))
		})
		kept = kept[:maxTerms]
		slices.SortFunc(kept, func(a, b posting) int { return cmp.Compare(a.term, b.term) })
	}
	a.counts, a.length = kept, lengthClass(length)
	a.question = strings.HasSuffix(strings.TrimRight(text, " \t\r\n\"')"), "?")
	return a
}

// cutText leaves of a long text its beginning and its end, where errors are.
func cutText(text string) string {
	if len(text) <= maxText {
		return text
	}
	i, j := maxText/2, len(text)-maxText/2
	for i > maxText/2-utf8.UTFMax && !utf8.RuneStart(text[i]) {
		i--
	}
	for j < len(text)-maxText/2+utf8.UTFMax && !utf8.RuneStart(text[j]) {
		j++
	}
	return text[:i] + "\n" + text[j:]
}

// lengthClass packs a number of words into a byte: exact up to 128, in steps of 16 up to some 2,000, and no longer than that.
func lengthClass(n int) uint8 {
	if n <= 128 {
		return uint8(n)
	}
	return uint8(min(128+(n-128)/16, 255))
}

// lengthOf is the number of words of a class.
func lengthOf(class uint8) float64 {
	if class <= 128 {
		return float64(class)
	}
	return float64(128 + (int(class)-128)*16)
}
