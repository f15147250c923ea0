package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parts finds the words of a query anywhere in a text, as parts of other words: of compounds
// (Autobahn in Autobahnraststätte), names (username in getUserName), versions and ids, and what is
// no word (an emoji). Case and accents do not matter.
type Parts struct {
	parts []string
	bare  bool // what stands within words does not matter: utf8 is in UTF-8
}

// PartsOf returns what finds the words of a query, and what finds them whatever stands within
// them. A part in quotes is one word.
func PartsOf(query string) (as, bare Parts) {
	bare.bare = true
	for i, quoted := range strings.Split(cutText(query), `"`) {
		words := []string{strings.TrimSpace(quoted)}
		if i%2 == 0 {
			words = strings.Fields(quoted)
		}
		for _, word := range words {
			switch name := strings.TrimFunc(word, notInName); {
			case name == "" && isASCIIText(word):
				continue // punctuation says nothing
			case name != "" && i%2 == 0:
				word = strings.TrimRight(word, ".,;:?!")
			}
			low, _ := lowWithPlaces(word)
			if low == "" || len(as.parts) == maxQueryTerms {
				continue
			}
			as.parts = append(as.parts, low)
			low, _ = withoutMarks(low, nil)
			if rest := strings.TrimPrefix(low, "v"); rest != "" && unicode.IsDigit(rune(rest[0])) {
				low = rest // of a version
			}
			bare.parts = append(bare.parts, low)
		}
	}
	return as, bare
}

// None reports whether there is nothing to find.
func (p Parts) None() bool { return len(p.parts) == 0 }

// FindStringIndex returns where a text that has all parts has the first one; nil for no such text.
func (p Parts) FindStringIndex(text string) []int {
	low, places := lowWithPlaces(text)
	if p.bare {
		low, places = withoutMarks(low, places)
	}
	var found []int
	for _, part := range p.parts {
		at := strings.Index(low, part)
		if at < 0 {
			return nil
		}
		if found == nil {
			found = []int{at, at + len(part)}
		}
	}
	if places != nil && found != nil {
		last := places[found[1]-1]
		_, size := utf8.DecodeRuneInString(text[last:])
		found[0], found[1] = places[found[0]], last+size
	}
	return found
}

// lowWithPlaces is foldWithPlaces in lower case, as far as that is as long.
func lowWithPlaces(text string) (low string, places []int) {
	folded, places := foldWithPlaces(text)
	b := []byte(folded)
	for i, r := range folded {
		if l := unicode.ToLower(r); l != r && utf8.RuneLen(l) == utf8.RuneLen(r) {
			utf8.EncodeRune(b[i:], l)
		}
	}
	return string(b), places
}

// withoutMarks leaves out the marks that stand between letters, or a letter and a digit. places are
// those of the bytes of the text and of its end; nil if they are in their places.
func withoutMarks(low string, places []int) (bare string, at []int) {
	var b strings.Builder
	before := rune(0)
	for i := 0; i < len(low); {
		r, size := utf8.DecodeRuneInString(low[i:])
		next, _ := utf8.DecodeRuneInString(low[i+size:])
		within := inWord(before) && inWord(next) &&
			!(unicode.IsDigit(before) && unicode.IsDigit(next))
		for k := range size {
			if !within || !strings.ContainsRune("-_./'’", r) {
				b.WriteByte(low[i+k])
				at = append(at, i+k)
			}
		}
		i, before = i+size, r
	}
	at = append(at, len(low))
	for i := range at {
		if places != nil {
			at[i] = places[at[i]]
		}
	}
	return b.String(), at
}
