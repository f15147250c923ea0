package search

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/forest/terms"
)

// Query is a question, taken apart.
type Query struct {
	terms []queryTerm
	words []string // as they are written, for the names of authors
	attr  uint8    // what an answer should have: attrNumber, attrWhen
}

// queryTerm is a term and how much it counts.
type queryTerm struct {
	term   uint64
	weight float64
	word   string // as it is written, in lower case
}

// ErrNoTerms says that a query has nothing that could be looked for.
var ErrNoTerms = errors.New("nothing to search for")

// maxQueryTerms bounds the work of a query; what is more is left out.
const maxQueryTerms = 64

// Parse takes a query apart. ErrNoTerms where it has only words that are everywhere.
func Parse(text string) (*Query, error) {
	q := &Query{}
	text = cutText(text)
	scan(text, func(t terms.Token, _ string) {
		word := strings.ToLower(text[t.Start:t.End])
		w := kindWeight[t.Kind]
		switch {
		case asks(word):
			w = float64(w * askWeight)
		case isCommon(word):
			w = float64(w * commonWeight)
		}
		q.add(queryTerm{term: t.Term, weight: w, word: word})
	})
	if len(q.terms) == 0 {
		return nil, ErrNoTerms
	}
	q.words = strings.FieldsFunc(text, notInName)
	for i, w := range q.words[1:] {
		q.attr |= wants(strings.ToLower(q.words[i]), strings.ToLower(w))
	}
	return q, nil
}

func (q *Query) add(t queryTerm) {
	i := slices.IndexFunc(q.terms, func(o queryTerm) bool { return o.term == t.term })
	switch {
	case i >= 0:
		q.terms[i].weight = max(q.terms[i].weight, t.weight)
	case len(q.terms) < maxQueryTerms:
		q.terms = append(q.terms, t)
	}
}

// wants says what the answer to a question with these two words, one after the other, should have.
func wants(word, next string) uint8 {
	switch word {
	case "when":
		return attrWhen
	case "how":
		switch next {
		case "many", "much", "long", "large", "big", "small", "old", "often", "high", "fast", "far", "deep", "tall":
			return attrNumber
		}
	case "what", "which":
		switch next {
		case "time", "date", "day", "month", "year":
			return attrWhen
		case "port", "version", "release", "number", "size", "percentage", "rate", "price", "amount":
			return attrNumber
		}
	}
	return 0
}

// notInName reports whether a rune separates the parts of names.
func notInName(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
