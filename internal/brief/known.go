package brief

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// mustKeep reports whether lines of a section are what a summary must not lose.
func mustKeep(s Section) bool {
	return slices.Contains([]Section{Heed, Decided, State, Failing, Todos, Recap}, s)
}

// besideSummary reports whether the reader has a summary of the session, or writes one.
func (c *chooser) besideSummary() bool { return c.keep || c.knows != nil }

// known is a text that the reader of a brief has.
type known struct {
	words string // see bareWords
	terms []bool // by number
}

// knownShare is the least share of a line's terms that a text has if it says the same. One name in
// six that it lacks is news.
const knownShare = 0.85

// leaveOut takes the items that say nothing beside a text out of the choice.
func (c *chooser) leaveOut(text string) {
	if text == "" {
		return
	}
	k := &known{words: bareWords(text), terms: make([]bool, len(c.worth))}
	for _, t := range c.terms.known(text) {
		k.terms[t] = true
	}
	c.knows = k
	for i := range c.items {
		it := &c.items[i]
		if it.lead > 0 && c.items[i-it.lead].taken || // it says more of what the reader has
			!c.isUndone(it.fact) && k.has(it.fact, it.terms) {
			it.taken = true
		}
	}
}

// has reports whether the text says what a fact says: it has most of the terms and all numbers that
// name something, and where the words of somebody count, all of them.
func (k *known) has(f *digest.Fact, terms []int32) bool {
	n := 0
	for _, t := range terms {
		if k.terms[t] {
			n++
		}
	}
	if float64(n) < knownShare*float64(len(terms)) {
		return false
	}
	return len(terms) > 0 && f.Kind != digest.Prompt && !f.IsNote() && !k.lacks(f.Text) ||
		strings.Contains(k.words, bareWords(f.Text))
}

// isKnown reports whether the reader has a line.
func (c *chooser) isKnown(l Line) bool {
	f := digest.Fact{Text: l.Text}
	if strings.HasPrefix(l.Text, "> ") {
		f.Kind = digest.Prompt
	}
	return c.knows != nil && !strings.HasPrefix(l.Text, digest.Tried) &&
		c.knows.has(&f, c.terms.known(l.Text))
}

// bareWords returns the words of a text in small letters, each between two spaces.
func bareWords(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ") + " "
}

// minValue is the number of digits from which on a number names something: a comment, an issue.
const minValue = 4

// lacks reports whether a line has a number that names something and that the text does not have.
func (k *known) lacks(line string) bool {
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	return slices.ContainsFunc(strings.Fields(bareWords(line)), func(word string) bool {
		return len(word) >= minValue && strings.TrimFunc(word, isDigit) == "" &&
			!strings.Contains(k.words, " "+word+" ")
	})
}
