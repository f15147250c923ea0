package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt returns the passage of text with most of the query's terms, as one line of at most most
// runes, with "…" where text is left out. If the text has no term of the query, it returns the
// beginning of text.
func (q *Query) Excerpt(text string, most int) string {
	low, places := foldWithPlaces(text)
	low = asciiLower(low)
	spots := q.spots(low)
	if len(spots) == 0 {
		return Passage(text, 0, 0, most)
	}
	first, last := bestWindow(spots, most*3/4)
	start, end := spots[first].start, spots[last].end
	if places != nil {
		start, end = places[start], places[end]
	}
	return Passage(text, start, end, most)
}

// Weight returns how much of the query a text has: the sum of the weights of its terms and phrases.
func (q *Query) Weight(text string) (sum float64) {
	low, _ := foldWithPlaces(text)
	seen := map[int]bool{}
	for _, s := range q.spots(asciiLower(low)) {
		if !seen[s.what] {
			seen[s.what] = true
			sum += s.weight
		}
	}
	return sum
}

// maxAsked is the largest number of telling words of a query of which it is said what a text lacks:
// a question in sentences has more than any answer.
const maxAsked = 5

// Without returns the telling words of the query that a text lacks, none if there are many words.
func (q *Query) Without(text string) (words []string) {
	low, _ := foldWithPlaces(text)
	has := map[string]bool{}
	for _, s := range q.spots(asciiLower(low)) {
		if s.what < len(q.terms) {
			has[q.terms[s.what].word] = true
		}
	}
	asked := 0
	for _, word := range q.words {
		word = strings.ToLower(word)
		isTerm := slices.ContainsFunc(q.terms, func(t queryTerm) bool { return t.word == word })
		if !isTerm || isCommon(word) || asks(word) {
			continue
		}
		if asked++; !has[word] {
			words = append(words, word)
		}
	}
	if asked > maxAsked {
		return nil
	}
	return words
}

// spot is an occurrence of a phrase or term of the query in a text.
type spot struct {
	start, end int // byte offsets
	what       int // number of the phrase or term
	weight     float64
}

// phraseWeight is the weight of a whole phrase in an excerpt, in addition to its terms.
const phraseWeight = 4

// maxSpots is the largest number of occurrences of each term that an excerpt considers.
const maxSpots = 512

// spots returns the occurrences of the query's terms and phrases in a folded lower-case text, in
// order.
func (q *Query) spots(low string) []spot {
	var list []spot
	add := func(what int, weight float64, find string, wordStart bool) {
		for at, n := 0, 0; n < maxSpots; n++ {
			i := strings.Index(low[at:], find)
			if i < 0 {
				return
			}
			i += at
			at = i + len(find)
			if r, _ := utf8.DecodeLastRuneInString(low[:i]); !wordStart || i == 0 || !inWord(r) {
				list = append(list, spot{start: i, end: at, what: what, weight: weight})
			}
		}
	}
	for i, t := range q.terms {
		add(i, t.weight, stemLike(t.word), !isUnspaced(t.word))
	}
	for i, p := range append([]string{q.text}, q.quotes...) {
		if p = strings.TrimSpace(asciiLower(Fold(p))); p != "" {
			add(len(q.terms)+i, phraseWeight, p, false)
		}
	}
	slices.SortFunc(list, func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end),
			cmp.Compare(a.what, b.what))
	})
	return list
}

// stemLike returns the approximate common beginning of the forms of a word. The stems of the index
// do not serve here, because a stem need not be a beginning of the word.
func stemLike(word string) string {
	if stem := otherStem(word); stem != "" && strings.HasPrefix(word, stem) {
		return stem
	}
	if len(word) <= 4 || strings.IndexFunc(word, notInName) >= 0 || !isASCIIText(word) {
		return word
	}
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ions", "ion", "ers", "ies",
		"ed", "er", "es", "ly", "s", "e", "y"} {
		stem := strings.TrimSuffix(word, ending)
		if n := len(stem); n >= 3 && n < len(word) {
			if n > 3 && stem[n-1] == stem[n-2] && stem[n-1] != 'l' && stem[n-1] != 's' {
				stem = stem[:n-1] // "runn" becomes "run"
			}
			return stem
		}
	}
	return word
}

func isASCIIText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// asciiLower lowers the letters A to Z, so that every byte keeps its offset.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// bestWindow returns the first and the last spot of the first window of at most most bytes with the
// largest total weight. A phrase or term counts once.
func bestWindow(spots []spot, most int) (first, last int) {
	best := -1.0
	for i := range spots {
		seen, sum, end := map[int]bool{}, 0.0, i
		for j := i; j < len(spots) && j < i+maxSpots/8 &&
			spots[j].end-spots[i].start <= max(most, spots[i].end-spots[i].start); j++ {
			if end = j; !seen[spots[j].what] {
				seen[spots[j].what] = true
				sum += spots[j].weight
			}
		}
		if sum > best {
			best, first, last = sum, i, end
		}
	}
	return first, last
}

// Passage returns text[start:end] with some text around it, as one line of at most most runes. "…"
// marks left-out text and counts as a rune.
func Passage(text string, start, end, most int) string {
	room := max(most-utf8.RuneCountInString(text[start:min(end, start+4*most)]), 0)
	from, to := back(text, start, room/3), forward(text, end, room-room/3)
	if to == len(text) {
		from = back(text, start, room-utf8.RuneCountInString(text[end:])-2)
	}
	if from == 0 {
		to = forward(text, end, room-utf8.RuneCountInString(text[:start])-2)
	}
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text[from:to], "\uFFFD")), " ")
	if from > 0 && strings.TrimSpace(text[:from]) != "" {
		line = "…" + line
	}
	if to < len(text) && strings.TrimSpace(text[to:]) != "" {
		line += "…"
	}
	if r := []rune(line); len(r) > most {
		line = string(r[:most-1]) + "…"
	}
	return line
}

// back returns the start of the first word within n runes before i, or i if no word starts there.
func back(text string, i, n int) int {
	from := i
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from == 0 {
		return 0
	}
	if k := strings.IndexAny(text[from:i], " \t\r\n"); k >= 0 {
		return from + k + 1
	}
	return from
}

// forward returns the end of the last word within n runes after i, or i if no word ends there.
func forward(text string, i, n int) int {
	to := i
	for ; n > 0 && to < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if to == len(text) {
		return to
	}
	if k := strings.LastIndexAny(text[i:to], " \t\r\n"); k >= 0 {
		return i + k
	}
	return to
}

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
			low, _ = withoutMarks(low, nil, false)
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
		low, places = withoutMarks(low, places, true)
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

// MayStandIn reports whether a text, of which it is given Low, has all parts. It is for most texts,
// which have not, and does not look for places.
func (p Parts) MayStandIn(low string) bool {
	if p.bare {
		low, _ = withoutMarks(low, nil, false)
	}
	return !slices.ContainsFunc(p.parts,
		func(part string) bool { return !strings.Contains(low, part) })
}

// Low is Fold in lower case, as far as that is as long.
func Low(text string) string {
	if isASCIIText(text) {
		return strings.ToLower(text)
	}
	return lowLetters(Fold(text))
}

// lowWithPlaces is Low with the places of foldWithPlaces.
func lowWithPlaces(text string) (low string, places []int) {
	folded, places := foldWithPlaces(text)
	return lowLetters(folded), places
}

// lowLetters lowers letters whose small ones are as long.
func lowLetters(folded string) string {
	b := []byte(folded)
	for i, r := range folded {
		if l := unicode.ToLower(r); l != r && utf8.RuneLen(l) == utf8.RuneLen(r) {
			utf8.EncodeRune(b[i:], l)
		}
	}
	return string(b)
}

// isWordMark reports whether a mark may stand within a word.
func isWordMark(r rune) bool {
	switch r {
	case '-', '_', '.', '/', '\'', '’':
		return true
	}
	return false
}

// withoutMarks leaves out the marks that stand between letters, or a letter and a digit. places are
// those of the bytes of the text and of its end; nil if they are in their places. Where nobody asks
// for at, the places of what is left, it is nil.
func withoutMarks(low string, places []int, asked bool) (bare string, at []int) {
	var b strings.Builder
	b.Grow(len(low))
	from := 0 // of what was not taken yet
	take := func(to int) {
		b.WriteString(low[from:to])
		for k := from; asked && k < to; k++ {
			at = append(at, k)
		}
	}
	for i, r := range low {
		if !isWordMark(r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		before, _ := utf8.DecodeLastRuneInString(low[:i])
		next, _ := utf8.DecodeRuneInString(low[end:])
		if inWord(before) && inWord(next) && !(unicode.IsDigit(before) && unicode.IsDigit(next)) {
			take(i)
			from = end
		}
	}
	take(len(low))
	if !asked {
		return b.String(), nil
	}
	at = append(at, len(low))
	for i := range at {
		if places != nil {
			at[i] = places[at[i]]
		}
	}
	return b.String(), at
}
