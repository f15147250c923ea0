package search

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// Query is a parsed query.
type Query struct {
	terms []queryTerm // its own, and after them those of alike words
	alike int         // how many are of alike words
	words []string    // as written, to find names of authors
	attr  uint8       // properties that an answer should have: attrNumber, attrWhen
	asker bool        // it asks what the user said or decided

	text    string
	whole   phrase   // all words of the query
	quotes  []string // the quoted parts
	phrases []phrase // the words of the quoted parts
	length  uint8    // as lengthClass returns it
	print   uint64   // see printOf
	must    int      // number of terms with must
}

// queryTerm is a term with its weight.
type queryTerm struct {
	term   uint64
	weight float64
	word   string // as written, in lower case
	must   bool   // it is part of a required phrase, so a document must have it
}

// ErrNoTerms says that a query has no term to search for.
var ErrNoTerms = errors.New("nothing to search for")

// maxQueryTerms is the largest number of terms of a query. Further terms are ignored.
const maxQueryTerms = 64

// Parse parses a query. It returns ErrNoTerms if all words are too common to search for.
func Parse(text string) (*Query, error) {
	text = Fold(cutText(text))
	q := &Query{text: text, whole: wordsOf(text)}
	scan(new(terms.Scanner), text, func(t terms.Token, _ string) {
		word := strings.ToLower(text[t.Start:t.End])
		if t.Kind == terms.Part && utf8.RuneCountInString(word) == 1 {
			return // one syllable of a word says too little
		}
		w := kindWeight[t.Kind]
		switch {
		case t.Kind == terms.Part && isUnspaced(word):
			w = pieceWeight
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
	a := new(Builder).analyse(text)
	q.length, q.print = a.length, a.print
	q.words = strings.FieldsFunc(text, notInName)
	for i, w := range q.words[1:] {
		word, next := strings.ToLower(q.words[i]), strings.ToLower(w)
		q.attr |= wants(word, next)
		q.asker = q.asker || asksOneself(word, next)
	}
	return q, nil
}

// own returns the number of the terms of the query's own words.
func (q *Query) own() int { return len(q.terms) - q.alike }

func (q *Query) add(t queryTerm) {
	i := slices.IndexFunc(q.terms, func(o queryTerm) bool { return o.term == t.term })
	switch {
	case i >= 0:
		q.terms[i].weight = max(q.terms[i].weight, t.weight)
	case len(q.terms) < maxQueryTerms:
		q.terms = append(q.terms, t)
	}
}

// wants returns the properties that the answer to a question with these two consecutive words
// should have.
func wants(word, next string) uint8 {
	switch word {
	case "when":
		return attrWhen
	case "how":
		switch next {
		case "many", "much", "long", "large", "big", "small", "old", "often", "high", "fast", "far",
			"deep", "tall":
			return attrNumber
		}
	case "what", "which":
		switch next {
		case "time", "date", "day", "month", "year":
			return attrWhen
		case "port", "version", "release", "number", "size", "percentage", "rate",
			"price", "amount":
			return attrNumber
		}
	}
	return 0
}

// asksOneself reports whether a query with these two consecutive words asks what the user said,
// wanted or decided, as "did I" and "I forbid" do: the answer then stands in a user's message.
func asksOneself(word, next string) bool {
	if next == "i" || next == "we" {
		switch word {
		case "did", "do", "have", "had", "may", "must", "should", "shall":
			return true
		}
	}
	if word != "i" && word != "we" {
		return false
	}
	switch next {
	case "say", "said", "want", "wanted", "tell", "told", "ask", "asked", "forbid", "forbade",
		"allow", "allowed", "reject", "rejected", "refuse", "refused", "decide", "decided",
		"agree", "agreed", "settle", "settled", "mean", "meant":
		return true
	}
	return false
}

// notInName reports whether a rune separates the parts of names.
func notInName(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// RequirePhrases makes every quoted phrase required: a document must contain it word for word.
// Without this call, quotes have no meaning.
func (q *Query) RequirePhrases() {
	q.quotes = quoted(q.text)
	for _, text := range q.quotes {
		p := phrase(wordsOf(text))
		if len(p) == 0 {
			continue
		}
		q.phrases = append(q.phrases, p)
		scan(new(terms.Scanner), text, func(t terms.Token, _ string) {
			i := slices.IndexFunc(q.terms, func(o queryTerm) bool { return o.term == t.Term })
			// In a document, a name or number may be part of a longer one, which is another term.
			// So may a word of a script without spaces.
			if t.Kind == terms.Word && runsOn(text[t.Start:t.End]) &&
				utf8.RuneCountInString(text[t.Start:t.End]) > 2 {
				return
			}
			if i >= 0 && !q.terms[i].must && (t.Kind == terms.Word || t.Kind == terms.Part) {
				q.terms[i].must = true
				q.must++
			}
		})
	}
}

// HasPhrases reports whether the query has required phrases.
func (q *Query) HasPhrases() bool { return len(q.phrases) > 0 }

// Match says which phrases of a query a text contains.
type Match struct {
	Phrases bool // every required phrase
	Whole   bool // the whole query, word for word
}

// Match compares the query with a text word by word. It ignores case, accents, and the characters
// between words.
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

// Words returns the number of words of the query.
func (q *Query) Words() int { return len(q.whole) }

// WordsGain returns the factor of the score of a document that contains a query of so many words
// word for word, and 1 for other documents.
func WordsGain(m Match, words int) float64 {
	if !m.Whole {
		return 1
	}
	return 1 + float64(phraseGain*float64(min(words, phraseFull)))/phraseFull
}
