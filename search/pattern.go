package search

import (
	"regexp"
	"strings"
	"unicode"
)

// WordPatterns returns two patterns for the words of a text, in their order, whatever case they have and
// whatever stands between them that is no word: whole matches a text that has these words and no others,
// within a text that has them anywhere. Both are nil where the text has no words. Of a longer text than
// so many words as a query has terms, the first count, for both.
func WordPatterns(text string) (whole, within *regexp.Regexp) {
	words := strings.FieldsFunc(cutText(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
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
