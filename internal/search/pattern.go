package search

import (
	"regexp"
	"strings"
	"unicode"
)

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
