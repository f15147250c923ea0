package search

import (
	"strings"
	"unicode/utf8"
)

// leastStem is how many letters of a word stay, whatever its endings.
const leastStem = 3

// greekEndings are endings of nouns, adjectives and verbs, without accents and with the common
// sigma, the longest first.
const greekEndings = "ματων ματοσ ματα μα ουμε ετε ουν εισ εων εωσ ουσ ησε ων οσ ου οι εσ ασ ησ υσ ει " +
	"α η ο ι υ ω ε"

// greekStem returns a folded lower-case word of Greek without its ending.
func greekStem(word string) string {
	for ending := range strings.FieldsSeq(greekEndings) {
		if stem, ok := strings.CutSuffix(word, ending); ok &&
			utf8.RuneCountInString(stem) >= leastStem {
			return stem
		}
	}
	return word
}

// hebrewPrefixes are the letters of one-letter words (and, the, in, as, to, from, that), which
// stand at the front of the word after them.
const hebrewPrefixes = "והבכלמש"

// hebrewStem returns a word of Hebrew without the ending of the plural, and without all prefixes
// that it may have: a letter of the word itself that looks like one goes from all its forms.
func hebrewStem(word string) string {
	n := utf8.RuneCountInString(word)
	for _, ending := range [...]string{"ים", "ות"} {
		if stem, ok := strings.CutSuffix(word, ending); ok && n-2 >= leastStem {
			word, n = stem, n-2
		}
	}
	for n > leastStem {
		r, size := utf8.DecodeRuneInString(word)
		if !strings.ContainsRune(hebrewPrefixes, r) {
			break
		}
		word, n = word[size:], n-1
	}
	return strings.Map(within, word)
}

// within returns the form that a letter has within a word, where it has another at the end.
func within(r rune) rune {
	switch r {
	case 'ך', 'ם', 'ן', 'ף', 'ץ':
		return r + 1 // the final form stands before the other
	}
	return r
}
