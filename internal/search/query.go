package search

import (
	_ "embed"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
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
		q.asker = q.asker || asksOneself(word, next) ||
			next == "must" && isQuestionWord(q.words[0]) // what somebody demanded
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
		case "did", "have", "had", "may", "must", "should", "shall":
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

func isQuestionWord(word string) bool {
	switch strings.ToLower(word) {
	case "what", "which", "why", "when", "where", "who", "how":
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

// alikeWords has a line for each group of words that developers use for one thing, or for things
// that belong together. A word may be in several groups.
//
//go:embed alike.txt
var alikeWords string

const (
	// A query of fewer telling words looks for these words, and for no others.
	alikeFrom = 3
	// The weight of an alike word, as a share of that of the query's own. Of .1 to .4 it was best for
	// 85 questions about 29 sessions in other words than the text's (docs/compaction.md).
	alikeWeight = 0.2
)

// Widen adds the terms of words that are alike to those of a question in somebody's own words: who
// comes back after a month remembers what was done, and not how it was said. It does nothing for a
// query of a few words. A document that has only alike words is found, but counts little.
func (q *Query) Widen() {
	telling := map[uint64]float64{}
	added := map[uint64]bool{}
	for _, t := range q.terms {
		added[t.term] = true
		if !isCommon(t.word) && !asks(t.word) {
			telling[t.term] = t.weight
		}
	}
	if len(telling) < alikeFrom {
		return
	}
	for _, group := range alikeGroups() {
		weight := 0.0
		for _, t := range group {
			weight = max(weight, telling[t.term])
		}
		for _, t := range group {
			if weight > 0 && !added[t.term] && len(q.terms) < maxQueryTerms {
				added[t.term] = true
				t.weight = float64(weight * alikeWeight)
				q.terms = append(q.terms, t)
				q.alike++
			}
		}
	}
}

// alike has the groups of alikeWords once they are asked for.
var alike struct {
	sync.Once
	groups [][]queryTerm
}

func alikeGroups() [][]queryTerm {
	alike.Do(func() {
		scanner := new(terms.Scanner)
		for line := range strings.Lines(alikeWords) {
			var group []queryTerm
			scan(scanner, line, func(t terms.Token, _ string) {
				group = append(group, queryTerm{term: t.Term, word: line[t.Start:t.End]})
			})
			alike.groups = append(alike.groups, group)
		}
	})
	return alike.groups
}

// WordPatterns returns two patterns for the words of a text, in their order and in any case, with
// any characters except letters and numbers between them. whole matches a text that consists of
// these words; within matches a text that contains them. Both are nil if the text has no words. If
// the text has more than maxQueryTerms words, both patterns are within for the first words.
func WordPatterns(text string) (whole, within *regexp.Regexp) {
	words := strings.FieldsFunc(cutText(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	if len(words) == 0 {
		return nil, nil
	}
	cut := len(words) > maxQueryTerms
	words = words[:min(len(words), maxQueryTerms)]
	const between = `[^\pL\pN]+`
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	list := strings.Join(words, between)
	const ends = `[^\pL\pN]*`
	within = regexp.MustCompile(`(?i)(?:\A|[^\pL\pN])` + list + `(?:[^\pL\pN]|\z)`)
	if cut {
		return within, within
	}
	return regexp.MustCompile(`(?i)\A` + ends + list + ends + `\z`), within
}

// wordsOf returns the words of text in the form in which phrases compare them: runs of letters and
// digits, without accents, in lower case.
func wordsOf(text string) []string { return strings.FieldsFunc(lowered(text), notInName) }

// lowered returns text without accents and in lower case.
func lowered(text string) string { return strings.ToLower(Fold(text)) }

// phrase is a sequence of words.
type phrase []string

// in reports whether a lowered text has the words of the phrase one after the other, with anything
// except words between them.
func (p phrase) in(text string) bool {
	if len(p) == 0 {
		return false
	}
	w := wordScanner{text: text}
	// The phrase may begin at any of the last len(p) words. begun holds, for each beginning, the
	// number of words that match so far.
	var begun []int
	for word, ok := w.next(); ok; word, ok = w.next() {
		kept := begun[:0]
		for _, at := range append(begun, 0) {
			if p[at] != word && !(isUnspaced(p[at]) && strings.Contains(word, p[at])) {
				continue
			}
			if at+1 < len(p) {
				kept = append(kept, at+1)
				continue
			}
			return true
		}
		begun = kept
	}
	return false
}

// isUnspaced reports whether a word is of a script whose words stand without spaces between, or
// have endings: it may be a part of what stands between two spaces.
func isUnspaced(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r >= 0x2E80 || unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// wordScanner yields the words of a lowered text.
type wordScanner struct{ text string }

func (w *wordScanner) next() (string, bool) {
	i := strings.IndexFunc(w.text, func(r rune) bool { return !notInName(r) })
	if i < 0 {
		return "", false
	}
	w.text = w.text[i:]
	n := strings.IndexFunc(w.text, notInName)
	if n < 0 {
		n = len(w.text)
	}
	word := w.text[:n]
	w.text = w.text[n:]
	return word, true
}

// quoted returns the parts of a query in straight or typographic double quotes. It ignores a
// quotation mark inside a word and one without a second.
func quoted(text string) []string {
	var list []string
	begin := -1
	prev := ' '
	for i, r := range text {
		size := utf8.RuneLen(r)
		switch {
		case r != '"' && r != '“' && r != '”' && r != '„':
		case begin < 0 && !inWord(prev):
			begin = i + size
		case begin >= 0 && i > begin:
			list = append(list, text[begin:i])
			begin = -1
		}
		prev = r
	}
	return list
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Quotes reports whether text is longer than other and contains all words of other, one after the
// other, and these are at least least words.
func Quotes(text, other string, least int) bool {
	if len(text) <= len(other) {
		return false
	}
	p := phrase(wordsOf(other))
	return len(p) >= least && p.in(lowered(text))
}
