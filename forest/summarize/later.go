package summarize

import (
	"slices"
	"strings"
)

// overtaken reports for each sentence of a list in reading order whether a later one has its words,
// or the same words with another number: newer history has precedence. Where two numbers differ,
// each may be about another thing, as in the lines of a table, and so in more sentences than rows.
func overtaken(list []valued) []bool {
	gone := make([]bool, len(list))
	alike := map[uint64]int{}
	for i := range list {
		subject, _ := subjectOf(list[i].shares)
		alike[subject]++
	}
	later := map[uint64]*valued{}
	for i := range slices.Backward(list) {
		early := &list[i]
		subject, words := subjectOf(early.shares)
		late := later[subject]
		if late == nil || late.role == "tool" && early.role != "tool" {
			later[subject] = early
			continue
		}
		switch missing(early.shares, late.shares) {
		case 0:
			gone[i] = len(early.shares) > 2 || early.lower == late.lower
		case 1:
			gone[i] = (words > 1 || words > 0 && tellsChange(late.lower)) &&
				early.entry != late.entry && early.role != "tool" && !isCode(early.text) &&
				missing(late.shares, early.shares) > 0 && alike[subject] <= rows
		}
	}
	return gone
}

// subjectOf returns a key of the terms that are no numbers, and how many there are.
func subjectOf(shares []share) (key uint64, words int) {
	for _, s := range shares {
		if !s.number {
			key ^= s.hash
			words++
		}
	}
	return key, words
}

// missing returns how many numbers of a are not in b.
func missing(a, b []share) (n int) {
	for _, s := range a {
		_, both := slices.BinarySearchFunc(b, s.term, func(s share, term int32) int {
			return int(s.term) - int(term)
		})
		if s.number && !both {
			n++
		}
	}
	return n
}

// tellsChange reports whether a text corrects something, or has a word such as "now".
func tellsChange(lower string) bool {
	return Corrects(lower) || slices.Contains(strings.Fields(lower), "now")
}
