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

	text    string
	whole   phrase   // all of its words
	quotes  []string // what it has in quotes
	phrases []phrase // the words of quotes
	length  uint8    // the class of its length
	print   uint64   // see printOf
	must    int      // how many of terms a document must have
}

// queryTerm is a term and how much it counts.
type queryTerm struct {
	term   uint64
	weight float64
	word   string // as it is written, in lower case
	must   bool   // it is in a phrase that has to be there
}

// ErrNoTerms says that a query has nothing that could be looked for.
var ErrNoTerms = errors.New("nothing to search for")

// maxQueryTerms bounds the work of a query; what is more is left out.
const maxQueryTerms = 64

// Parse takes a query apart. ErrNoTerms where it has only words that are everywhere.
func Parse(text string) (*Query, error) {
	text = Fold(cutText(text))
	q := &Query{text: text, whole: wordsOf(text)}
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
	q.length, q.print = analyse(text).length, printOf(text)
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

// RequirePhrases makes every phrase that the query has in quotes one that a document must have,
// word for word. Without it quotes mean nothing.
func (q *Query) RequirePhrases() {
	q.quotes = quoted(q.text)
	for _, text := range q.quotes {
		p := phrase(wordsOf(text))
		if len(p) == 0 {
			continue
		}
		q.phrases = append(q.phrases, p)
		scan(text, func(t terms.Token, _ string) {
			i := slices.IndexFunc(q.terms, func(o queryTerm) bool { return o.term == t.Term })
			// A name or a number may be part of a longer one in a document, and is another term
			// there.
			if i >= 0 && !q.terms[i].must && (t.Kind == terms.Word || t.Kind == terms.Part) {
				q.terms[i].must = true
				q.must++
			}
		})
	}
}

// HasPhrases reports whether there are phrases that a document must have.
func (q *Query) HasPhrases() bool { return len(q.phrases) > 0 }

// Match says how a text has the words of a query.
type Match struct {
	Phrases bool // it has every phrase that it must have
	Whole   bool // it has the whole query, word for word
}

// Match compares a query with a text word by word; case, accents and what stands between words do
// not count.
func (q *Query) Match(text string) Match {
	m := Match{Phrases: true}
	text = lowered(text)
	for _, p := range q.phrases {
		if !p.in(text) {
			m.Phrases = false
			break
		}
	}
	m.Whole = q.whole.in(text)
	return m
}

// Words is how many words a query has.
func (q *Query) Words() int { return len(q.whole) }

// WordsGain is what the score of a document is multiplied by for having a query of so many words
// word for word.
func WordsGain(m Match, words int) float64 {
	if !m.Whole {
		return 1
	}
	return 1 + float64(phraseGain*float64(min(words, phraseFull)))/phraseFull
}
