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

// The words in front of a word of Arabic (and, the, with the, as the, to the) and the endings of
// its plurals and of its feminine forms.
const (
	arabicPrefixes = "فال بال كال لل ال و"
	arabicEndings  = "ات ون ين ها ية ة ه ي"
)

// arabicStem returns a word of Arabic without what stands in front of it and without its ending, as
// hebrewStem does.
func arabicStem(word string) string {
	word = strings.Map(bare, word)
	for again := true; again; {
		again = false
		for prefix := range strings.FieldsSeq(arabicPrefixes) {
			if stem, ok := strings.CutPrefix(word, prefix); ok &&
				utf8.RuneCountInString(stem) >= leastStem {
				word, again = stem, true
			}
		}
	}
	for ending := range strings.FieldsSeq(arabicEndings) {
		if stem, ok := strings.CutSuffix(word, ending); ok &&
			utf8.RuneCountInString(stem) >= leastStem {
			return stem
		}
	}
	return word
}

// bare returns a letter of Arabic without a hamza or a madda, which many leave out.
func bare(r rune) rune {
	switch r {
	case 'أ', 'إ', 'آ', 'ٱ':
		return 'ا'
	case 'ى', 'ی':
		return 'ي'
	case 'ک':
		return 'ك'
	}
	return r
}

// within returns the form that a letter has within a word, where it has another at the end.
func within(r rune) rune {
	switch r {
	case 'ך', 'ם', 'ן', 'ף', 'ץ':
		return r + 1 // the final form stands before the other
	}
	return r
}
