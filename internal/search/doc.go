// Package search ranks messages by how well they answer a query, and defines the index segments
// that make this fast.
//
// The package is pure: documents, bytes and queries go in, bytes and ranks come out. Scores are
// identical to the bit on every platform. Begin with Parse and Rank; Builder makes a segment, Merge
// combines segments.
package search

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// Doc is a message or a note as it is indexed.
type Doc struct {
	ID      format.ID // the entry
	Version format.ID // the entry that has its text: ID itself, or an amend
	Session string
	Seq     uint64 // its place in the conversation; documents with near seqs were said together
	Role    string
	Author  string
	Note    bool
	Kept    bool // somebody wanted it remembered
	Calls   bool // it calls tools
	Time    time.Time
	Text    string
}

// The limits of a document. A message with more distinct terms is a listing, for which the most
// frequent ones are enough.
const (
	maxTerms = terms.MaxTerms
	maxText  = terms.MaxText
	maxCount = 255
)

// posting is one document that has a term.
type posting struct {
	doc   uint32
	count uint8 // number of occurrences in halves: a word or a name counts 2, a part of a name 1
}

// analysed is the indexed part of a text. Builder.analyse fills in all but counts.
type analysed struct {
	counts   []termCount // sorted by term
	length   uint8       // as lengthClass returns it
	question bool        // it ends with a question mark
	number   bool        // it contains a number
	when     bool        // it contains an expression of time
}

// termCount is one term of a document, and its count as in posting.
type termCount struct {
	term  uint64
	count uint8
}

// analyse returns the indexed part of a text. It examines at most maxText bytes and keeps the
// maxTerms most frequent terms. Builder does the same faster for many texts.
func analyse(text string) analysed {
	text = cutText(text)
	var found []termCount
	var a analysed
	length := 0
	scan(new(terms.Scanner), Fold(text), func(t terms.Token, word string) {
		n := uint8(2)
		if t.Kind == terms.Part {
			n = 1
		} else {
			length++
			a.number = a.number || t.Kind == terms.Number
			a.when = a.when || tellsTime(word)
		}
		found = append(found, termCount{term: t.Term, count: n})
	})
	slices.SortFunc(found, func(a, b termCount) int { return cmp.Compare(a.term, b.term) })
	kept := found[:0]
	for _, p := range found {
		if n := len(kept); n > 0 && kept[n-1].term == p.term {
			kept[n-1].count = uint8(min(int(kept[n-1].count)+int(p.count), maxCount))
		} else {
			kept = append(kept, p)
		}
	}
	if len(kept) > maxTerms {
		slices.SortFunc(kept, func(a, b termCount) int {
			return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.term, b.term))
		})
		kept = kept[:maxTerms]
		slices.SortFunc(kept, func(a, b termCount) int { return cmp.Compare(a.term, b.term) })
	}
	a.counts, a.length = kept, lengthClass(length)
	a.question = isQuestion(text)
	return a
}

func isQuestion(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, " \t\r\n\"')"), "?")
}

// cutText returns the beginning and the end of a long text, which are where error messages stand.
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

// lengthClass packs a number of words into a byte: exact up to 128, in steps of 16 up to about
// 2,000, and then constant.
func lengthClass(n int) uint8 {
	if n <= 128 {
		return uint8(n)
	}
	return uint8(min(128+(n-128)/16, 255))
}

// lengthOf returns the number of words for a result of lengthClass.
func lengthOf(class uint8) float64 {
	if class <= 128 {
		return float64(class)
	}
	return float64(128 + (int(class)-128)*16)
}
