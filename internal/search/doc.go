// Package search ranks messages by how well they answer a query, and defines the index segments
// that make this fast.
//
// The package is pure: documents, bytes and queries go in, bytes and ranks come out. Scores are
// identical to the bit on every platform. Begin with Parse and Rank; Builder makes a segment, Merge
// combines segments.
package search

import (
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

// analysed is what the index stores of a text beside its postings.
type analysed struct {
	length   uint8 // as lengthClass returns it
	question bool  // it ends with a question mark
	number   bool  // it contains a number
	when     bool  // it contains an expression of time
	print    uint64
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
