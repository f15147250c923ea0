package summarize

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// share is a term of a sentence with its number in the vocabulary and its value before any term is
// covered.
type share struct {
	term    int32
	telling bool // a number or a name
	number  bool
	value   int64
	hash    uint64 // of the term
}

// The factors of a term by its form, in tenths.
const (
	plain       = 10
	unit        = 15
	capitalised = 18
	named       = 17
	digit       = 32
)

// valued is a candidate with its terms, sorted by number, and its factor.
type valued struct {
	*candidate
	lower  string // the text in lower case
	shares []share
	nods   bool // consists only of thanks, greetings and acknowledgements
	factor int64
	first  int64 // added to the density of an urgent sentence
}

// value computes the values of all candidates and returns them with the size of the vocabulary.
func value(list []candidate, authors []string) (out []valued, vocabulary int) {
	scan := &terms.Scanner{Whole: true}
	number := make(map[uint64]int32, termsAhead*len(list))
	var frequency []int64 // by number of the term: number of sentences that have it
	numberOf := func(term uint64) int32 {
		n, ok := number[term]
		if !ok {
			n = int32(len(number))
			number[term] = n
			frequency = append(frequency, 0)
		}
		return n
	}
	out = make([]valued, len(list))
	var buffer []share
	for i := range list {
		c := &list[i]
		shares, nods := looks(scan, buffer[:0], c.text, numberOf)
		buffer = shares
		for _, s := range shares {
			frequency[s.term]++
		}
		out[i] = valued{candidate: c, lower: strings.ToLower(c.text), shares: slices.Clone(shares),
			nods: nods}
	}
	names := namesOf(authors, numberOf)
	for i := range out {
		for k, s := range out[i].shares {
			if names[s.term] {
				out[i].shares[k].value = 0
				continue
			}
			out[i].shares[k].value = s.value * rarity(int64(len(list)), frequency[s.term]) / 10
		}
		crowd(out[i].shares)
	}
	setFactors(out)
	setUrgent(out)
	return out, len(number)
}

// termsAhead is for how many terms of a sentence the vocabulary has room at first: half of what
// sentences have in talk of many topics.
const termsAhead = 3

// telling is the value of a sentence, in multiples of its best term, above which further terms
// count less: ten numbers in a row are a table.
const telling = 4

// crowding is the divisor of the value above that limit.
const crowding = 6

// crowd lowers the values of the terms of a sentence that has many of them.
func crowd(shares []share) {
	sum, most := int64(0), int64(0)
	for _, s := range shares {
		sum += s.value
		most = max(most, s.value)
	}
	if sum > telling*most && sum > 0 {
		for k := range shares {
			shares[k].value = shares[k].value * (telling*most + (sum-telling*most)/crowding) / sum
		}
	}
}

// namesOf returns the terms of the authors' names. In chat, most messages begin with such a name,
// which says nothing.
func namesOf(authors []string, number func(uint64) int32) map[int32]bool {
	names := make(map[int32]bool)
	for _, a := range authors {
		terms.Scan(a, func(t terms.Token) { names[number(t.Term)] = true })
	}
	return names
}

// looks appends the distinct terms of a sentence with their factors, in tenths, to an empty list,
// and reports whether the sentence is only an acknowledgement.
func looks(
	scan *terms.Scanner, list []share, text string, number func(uint64) int32,
) (_ []share, nods bool) {
	nods = true
	afterNumber := false
	addressee := addressed(text)
	scan.Scan(text, func(t terms.Token) {
		if t.End <= addressee {
			return
		}
		nods = nods && isNod(strings.ToLower(text[t.Start:t.End]))
		s := share{term: number(t.Term), value: look(text, t, afterNumber), hash: t.Term}
		s.number = t.Kind == terms.Number
		s.telling = t.Kind != terms.Word || s.value == digit
		list = append(list, s)
		afterNumber = t.Kind == terms.Number
	})
	slices.SortFunc(list, func(a, b share) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(b.value, a.value))
	})
	list = slices.CompactFunc(list, func(a, b share) bool { return a.term == b.term })
	return list, nods && len(list) <= maxNods
}

// maxNods is the largest number of different words of an acknowledgement.
const maxNods = 5

// addressed returns the end of the addressee's name at the start of a chat message such as "ana:
// look", or 0.
func addressed(text string) int {
	n := strings.IndexByte(text, ' ')
	if n < 2 || text[n-1] != ':' && text[n-1] != ',' {
		return 0
	}
	return n - 1
}

func look(text string, t terms.Token, afterNumber bool) int64 {
	s := text[t.Start:t.End]
	first, _ := utf8.DecodeRuneInString(s)
	switch {
	case hasDigit(s):
		return digit
	case t.Kind == terms.Name:
		return named
	case unicode.IsUpper(first) && strings.ContainsFunc(text[:t.Start], readable):
		return capitalised
	case afterNumber && isUnit(strings.ToLower(s)):
		return unit
	}
	return plain
}

func hasDigit(s string) bool {
	return strings.ContainsAny(s, "0123456789")
}

func isUnit(w string) bool {
	switch w {
	case "ms", "us", "ns", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes",
		"hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "years", "byte",
		"bytes", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "percent", "hz", "khz", "mhz", "ghz",
		"px", "pt", "mm", "cm", "km", "kg", "usd", "eur", "dollars", "euros", "times", "requests",
		"connections", "retries", "workers", "threads", "rows", "lines", "users", "people":
		return true
	}
	return false
}

// Rarity is rarity for other packages that rank lines.
func Rarity(n, df int64) int64 { return rarity(n, df) }

// rarity returns log2(1 + n/df) in thousandths. It is linear between powers of two, and computed in
// integers so that it is the same on every platform. n is the number of sentences, df of those with
// the term.
func rarity(n, df int64) int64 {
	x := uint64((n+df)<<10) / uint64(df) // 1 + n/df with ten binary places; at least 2
	whole := bits.Len64(x) - 1
	rest := (x - 1<<whole) * 1000 >> whole
	return int64(whole-10)*1000 + int64(rest)
}
