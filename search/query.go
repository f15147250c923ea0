package search

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/forest/terms"
)

// Query is a question, taken apart.
type Query struct {
	terms []queryTerm
	words []string // as they are written, for names of authors
	attr  uint8    // what an answer has: attrNumber, attrName, attrWhen
}

// queryTerm is a term and how much it counts.
type queryTerm struct {
	term   uint64
	weight float64
	name   string // the word it is, in lower case; "" for a part
}

// ErrNoTerms says that a query has nothing that could be looked for.
var ErrNoTerms = errors.New("nothing to search for")

// maxQueryTerms bounds the work of a query; what is more is left out.
const maxQueryTerms = 64

// Parse takes a query apart. ErrNoTerms where it has only words that are everywhere.
func Parse(text string) (*Query, error) {
	q := &Query{}
	text = cutText(text)
	var last terms.Token
	scan(text, func(t terms.Token, _ string) {
		word := strings.ToLower(text[t.Start:t.End])
		w := kindWeight[t.Kind]
		if asks(word) {
			w = float64(w * askWeight)
		}
		q.add(queryTerm{term: t.Term, weight: w, name: word})
		if t.Kind != terms.Part {
			if bigrams && last.Term != 0 && t.Start-last.End <= 12 {
				q.add(queryTerm{term: pair(last.Term, t.Term), weight: pairWeight})
			}
			last = t
		}
	})
	q.wants(strings.ToLower(text))
	q.words = strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' })
	if len(q.terms) == 0 && !slices.ContainsFunc(q.words, func(w string) bool { return utf8.RuneCountInString(w) > 1 }) {
		return nil, ErrNoTerms
	}
	if len(q.terms) == 0 {
		return nil, ErrNoTerms
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

// asks reports whether a word belongs to the asking and not to what is asked about.
func asks(word string) bool {
	switch word {
	case "summarize", "summarise", "summary", "describe", "description", "explain", "discuss", "discussed", "discussion", "discussions",
		"talk", "talked", "mention", "mentioned", "tell", "told", "opinion", "opinions", "thought", "thoughts", "contribute",
		"conclude", "concluded", "conclusion", "happen", "happened", "feel", "find", "show", "list", "give", "ask", "asked",
		"answer", "question", "issue", "regarding", "concerning", "kind", "type", "way", "people", "team", "group":
		return true
	}
	return false
}

// wants finds out what an answer has to have.
func (q *Query) wants(text string) {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w {
		case "when":
			q.attr |= attrWhen
		case "how":
			switch next {
			case "many", "much", "large", "big", "small", "old", "often", "high", "fast", "far", "deep", "tall":
				q.attr |= attrNumber
			case "long":
				q.attr |= attrNumber
			}
		case "what", "which":
			switch next {
			case "time", "date", "day", "month", "year":
				q.attr |= attrWhen
			case "port", "version", "release", "number", "size", "percentage", "rate", "price", "amount":
				q.attr |= attrNumber
			case "file", "function", "method", "command", "branch", "commit", "path", "flag", "option", "variable", "module", "package", "class", "table", "error", "environment", "parameter", "metric", "header", "field", "key", "setting":
				q.attr |= attrName
			}
		}
	}
}
