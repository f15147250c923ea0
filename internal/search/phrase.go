package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
