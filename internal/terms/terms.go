// Package terms divides the text of messages into tokens, and counts their terms in bags.
//
// The package is pure: text goes in, tokens and bags come out. Results are the same on every
// platform and in every run, because stored decisions depend on them. Begin with Scan and Of.
package terms

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/clipperhouse/uax29/v2/words"
)

// Count is one term of a bag.
type Count struct {
	Term uint64 // 64-bit FNV-1a of the normalized term; see Scan
	N    uint32 // number of occurrences, at least 1; stays at the largest value instead of wrapping
}

// Bag is a multiset of terms: each term once, sorted by Term. A nil Bag is empty. Functions of this
// package do not change the bags that they are given.
type Bag []Count

// The limits of a bag that Of makes.
const (
	// Distinct terms; of a listing with more, the most frequent ones are enough
	MaxTerms = 2000
	// Bytes of text that are examined; of a longer text the first and the last half of this number
	MaxText = 256 << 10
)

// Of returns the bag of the terms that Scan finds in text. It examines at most MaxText bytes and
// keeps the MaxTerms most frequent terms; at equal counts, those with the smaller Term. text need
// not be UTF-8.
func Of(text string) Bag {
	head, tail := bound(text)
	found := make([]uint64, 0, min(len(text)/5+1, 4096))
	collect := func(t Token) { found = append(found, t.Term) }
	Scan(head, collect)
	Scan(tail, collect)
	return trim(tally(found), MaxTerms)
}

// bound returns the first and the last half of MaxText bytes of a long text, cut between runes. A
// short text is all head.
func bound(text string) (head, tail string) {
	if len(text) <= MaxText {
		return text, ""
	}
	i, j := MaxText/2, len(text)-MaxText/2
	for i > 0 && !utf8.RuneStart(text[i]) && i > MaxText/2-utf8.UTFMax {
		i--
	}
	for j < len(text) && !utf8.RuneStart(text[j]) && j < len(text)-MaxText/2+utf8.UTFMax {
		j++
	}
	return text[:i], text[j:]
}

// tally sorts found and counts equal terms.
func tally(found []uint64) Bag {
	if len(found) == 0 {
		return nil
	}
	slices.Sort(found)
	distinct := 1
	for i := 1; i < len(found); i++ {
		if found[i] != found[i-1] {
			distinct++
		}
	}
	bag := make(Bag, 0, distinct)
	for _, t := range found {
		if n := len(bag); n > 0 && bag[n-1].Term == t {
			bag[n-1].N++
		} else {
			bag = append(bag, Count{Term: t, N: 1})
		}
	}
	return bag
}

// trim shortens b to limit terms and sorts the result. It changes b.
func trim(b Bag, limit int) Bag {
	if limit = max(limit, 0); len(b) > limit {
		slices.SortFunc(b, func(x, y Count) int {
			return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Term, y.Term))
		})
		b = b[:limit]
		slices.SortFunc(b, func(x, y Count) int { return cmp.Compare(x.Term, y.Term) })
	}
	if len(b) == 0 {
		return nil
	}
	return b
}

// isStop reports whether w, in lower case, is so common in English that it separates no topics. The
// list is short because document frequency handles the rest. It contains the halves of
// contractions, which an apostrophe separates.
func isStop(w string) bool {
	switch w {
	case "a", "an", "the", "this", "that", "these", "those", "there", "here",
		"i", "me", "my", "mine", "we", "us", "our", "you", "your", "yours", "he", "him", "his",
		"she", "her", "it", "its",
		"they", "them", "their", "who", "whom", "whose", "which", "what", "when",
		"where", "why", "how",
		"am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did",
		"done", "doing",
		"have", "has", "had", "having", "can", "could", "will", "would", "shall", "should", "may",
		"might", "must",
		"and", "or", "but", "nor", "if", "then", "else", "than", "so", "because", "while", "as",
		"though", "although",
		"of", "at", "by", "for", "with", "about", "into", "onto", "to", "from", "in", "on", "off",
		"out", "up", "down",
		"over", "under", "through", "after", "before", "between", "again", "also", "just", "only",
		"too", "very", "even",
		"not", "no", "yes", "any", "some", "all", "both", "each", "other", "another", "such",
		"same", "own", "more", "most",
		"much", "many", "few", "now", "still", "ever", "never", "one", "really", "quite",
		"maybe", "well",
		"ok", "okay", "yeah", "yep", "nope", "hi", "hello", "hey", "thanks", "thank", "please",
		"oh", "hmm", "um", "uh",
		"get", "got", "gets", "getting", "go", "goes", "going", "like", "want", "need", "know",
		"think", "see", "say", "said",
		"make", "let", "use", "used", "using", "thing", "things", "something", "anything",
		"don", "doesn", "didn", "isn", "aren", "wasn", "weren", "hasn", "haven", "hadn", "won",
		"wouldn", "shouldn",
		"couldn", "ain", "ll", "ve", "re", "dont", "im", "ive", "cant",
		"e.g", "i.e", "etc", "vs", "http", "https", "www":
		return true
	}
	return false
}

// Kind is the form of a token.
type Kind uint8

// The kinds of tokens.
const (
	// A word of a language; if it is ASCII, its term is the hash of its English stem
	Word Kind = iota
	Name      // an identifier, file name, path, address or flag, kept whole
	// A number, version, date or amount; begins with a digit, or with v and a digit; kept whole
	Number
	// A word inside the Name or hyphenated Word before it, or the base name of a path
	Part
)

// Token is one occurrence of a term.
type Token struct {
	Term       uint64 // 64-bit FNV-1a of the normalized term
	Kind       Kind
	Start, End int // byte offsets: text[Start:End] is the token as written
}

// maxWhole is the length in bytes of the longest token that is divided into parts. A longer one
// (base64, minified code) is only yielded whole.
const maxWhole = 200

// Scan calls yield for every token of text, in the order of Start, and for a whole token before its
// parts.
//
// Terms are in lower case. Stop words and single ASCII letters are omitted. Runs of ASCII and of
// alphabets are split at spaces and punctuation, then into identifiers, paths, numbers and words.
// From U+2E80 on (Han, kana, Hangul and so on) the word boundaries of UAX #29 apply, which for Han
// means single characters. Only case is normalized: a letter with a combining accent and the
// precomposed letter are different. Bytes that are not UTF-8 separate tokens.
func Scan(text string, yield func(Token)) {
	s, ok := scanners.Get().(*Scanner)
	if !ok {
		s = new(Scanner)
	}
	s.Scan(text, yield)
	scanners.Put(s)
}

// scanners keeps what Scan has used, for the stems that it remembers.
var scanners sync.Pool

// Scanner scans many texts. It remembers the tokens of runs, most of which are words that come
// again and again, and the stems of words, whose computation is most of the work. The zero value is
// ready for use. It must not be used by several goroutines at once.
type Scanner struct {
	// Whole omits the tokens of kind Part. It is set before the first Scan.
	Whole bool

	stems map[string]string
	env   *snowballstem.Env
	runs  map[string]runTokens
	found []runToken // of all runs
}

// runToken is a token of a run that is remembered, with its place in the run.
type runToken struct {
	term       uint64
	kind       Kind
	start, end uint8
}

// runTokens is the part of found with the tokens of a run.
type runTokens struct{ from, to uint32 }

// The limits of the runs that a Scanner remembers, about 4 MB.
const (
	maxRun  = 64
	maxRuns = 1 << 15
)

// Scan does the same as the function Scan.
func (c *Scanner) Scan(text string, yield func(Token)) {
	s := scanner{Scanner: c, text: text, yield: yield}
	for i, j, class := nextRun(text, 0); i < j; i, j, class = nextRun(text, j) {
		switch {
		case class == wide:
			s.segments(i, j)
		case j-i > maxRun, j-i == len(text): // who scans single words remembers them
			s.run(i, j)
		default:
			for _, t := range c.tokens(text[i:j]) {
				yield(Token{Term: t.term, Kind: t.kind, Start: i + int(t.start),
					End: i + int(t.end)})
			}
		}
	}
}

// tokens returns the tokens of a run, and remembers them. They are valid until the next call.
func (c *Scanner) tokens(run string) []runToken {
	if r, ok := c.runs[run]; ok {
		return c.found[r.from:r.to]
	}
	if c.runs == nil {
		c.runs = make(map[string]runTokens)
	} else if len(c.runs) >= maxRuns {
		clear(c.runs)
		c.found = c.found[:0]
	}
	from := len(c.found)
	s := scanner{Scanner: c, text: run, yield: func(t Token) {
		c.found = append(c.found,
			runToken{term: t.Term, kind: t.Kind, start: uint8(t.Start), end: uint8(t.End)})
	}}
	s.run(0, len(run))
	c.runs[strings.Clone(run)] = runTokens{uint32(from), uint32(len(c.found))}
	return c.found[from:]
}

// NextRun returns the offsets of the first run of text that begins at i or later: characters
// between spaces and punctuation, all of alphabets or all of East Asian scripts. At the end of the
// text the run is empty. What Scan finds in a text is what it finds in each run alone.
func NextRun(text string, i int) (start, end int) {
	start, end, _ = nextRun(text, i)
	return start, end
}

func nextRun(text string, i int) (start, end int, of class) {
	for i < len(text) {
		c, size := classAt(text, i)
		if c == separator {
			i += size
			continue
		}
		j := i + size
		for j < len(text) {
			if next := text[j]; next < utf8.RuneSelf {
				if classes[next] != c {
					break
				}
				j++
				continue
			}
			next, n := classAt(text, j)
			if next != c {
				break
			}
			j += n
		}
		return i, j, c
	}
	return i, i, separator
}

// scanner is the state of a scan of one text.
type scanner struct {
	*Scanner
	text  string
	yield func(Token)
}

// class is the effect of a rune on a run of text.
type class uint8

const (
	separator class = iota // ends a run
	narrow                 // ASCII characters of words, names and paths, and letters of alphabets
	wide                   // East Asian scripts and everything after them in Unicode
)

// classes has the class of each ASCII character. It is data, so that a start computes nothing.
var classes = [utf8.RuneSelf]class{
	'0': narrow, '1': narrow, '2': narrow, '3': narrow, '4': narrow, '5': narrow, '6': narrow,
	'7': narrow, '8': narrow, '9': narrow, 'A': narrow, 'B': narrow, 'C': narrow, 'D': narrow,
	'E': narrow, 'F': narrow, 'G': narrow, 'H': narrow, 'I': narrow, 'J': narrow, 'K': narrow,
	'L': narrow, 'M': narrow, 'N': narrow, 'O': narrow, 'P': narrow, 'Q': narrow, 'R': narrow,
	'S': narrow, 'T': narrow, 'U': narrow, 'V': narrow, 'W': narrow, 'X': narrow, 'Y': narrow,
	'Z': narrow, 'a': narrow, 'b': narrow, 'c': narrow, 'd': narrow, 'e': narrow, 'f': narrow,
	'g': narrow, 'h': narrow, 'i': narrow, 'j': narrow, 'k': narrow, 'l': narrow, 'm': narrow,
	'n': narrow, 'o': narrow, 'p': narrow, 'q': narrow, 'r': narrow, 's': narrow, 't': narrow,
	'u': narrow, 'v': narrow, 'w': narrow, 'x': narrow, 'y': narrow, 'z': narrow, '_': narrow,
	'.': narrow, '-': narrow, '/': narrow, '\\': narrow, ':': narrow, '@': narrow, '+': narrow,
	'#': narrow, '~': narrow, '%': narrow,
}

// classAt returns the class of the rune at i and its size in bytes.
func classAt(text string, i int) (class, int) {
	if c := text[i]; c < utf8.RuneSelf {
		return classes[c], 1
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	switch {
	case r == utf8.RuneError, r < 0xC0 && r != 0xAA && r != 0xB5 && r != 0xBA:
		return separator, size
	case r == 0x200C || r == 0x200D: // joiners inside words of Indic scripts and Persian
		return narrow, size
	case r >= 0x2000 && r < 0x2C00: // dashes, quotes, arrows, symbols
		return separator, size
	case r < 0x2E80:
		return narrow, size
	}
	return wide, size
}

// segments yields the words that UAX #29 finds in text[i:j].
func (s *scanner) segments(i, j int) {
	it := words.FromString(s.text[i:j])
	for it.Next() {
		w := it.Value()
		start := i + it.Start()
		if hasLetter(w) {
			s.emit(Word, start, start+len(w), strings.ToLower(w))
		}
	}
}

// emit yields text[i:j] with the term of norm.
func (s *scanner) emit(k Kind, i, j int, norm string) {
	if k == Part && s.Whole {
		return
	}
	s.yield(Token{Term: hash(norm), Kind: k, Start: i, End: j})
}

// hash returns 64-bit FNV-1a. The constants are the offset basis and the prime of its authors.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
