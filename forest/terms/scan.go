package terms

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/clipperhouse/uax29/v2/words"
)

// Kind says what a token looks like in the text.
type Kind uint8

// The kinds of tokens.
const (
	Word   Kind = iota // a word of a language; its term is the hash of its English stem where it is ASCII
	Name               // an identifier, file name, path, address or flag, kept whole
	Number             // a number, version, date or amount: begins with a digit, or with v and a digit; kept whole
	Part               // a word inside a Name or a hyphenated Word, or the base name of a path; lies within the token before
)

// Token is one occurrence of a term.
type Token struct {
	Term       uint64 // FNV-1a, 64 bits, of the normalised term
	Kind       Kind
	Start, End int // bytes of the text: text[Start:End] is the token as it is written
}

// maxWhole is the longest token, in bytes, that is taken apart; what is longer (base64, minified code) counts whole only.
const maxWhole = 200

// Scan calls yield for every token of text in the order of Start, a whole before its parts. Terms are in lower case; words
// of the stop list and single ASCII letters are left out. Runs of ASCII and of alphabets are cut at spaces and punctuation,
// then into identifiers, paths, numbers and words; everything from U+2E80 on (Han, kana, Hangul …) goes by the word
// boundaries of UAX #29, which for Han means single characters. Nothing is normalised beyond case: a letter with a
// combining accent and the same letter precomposed differ. Bytes that are not UTF-8 separate tokens.
func Scan(text string, yield func(Token)) { new(Scanner).Scan(text, yield) }

// Scanner scans many texts. It remembers the stems of the words that it has met, which are most of the
// work. The zero value is ready. It is not for several goroutines.
type Scanner struct {
	// Whole leaves out the tokens of kind Part.
	Whole bool

	stems map[string]string
	env   *snowballstem.Env
}

// Scan is the function Scan.
func (c *Scanner) Scan(text string, yield func(Token)) {
	s := scanner{Scanner: c, text: text, yield: yield}
	for i := 0; i < len(text); {
		class, size := classAt(text, i)
		if class == separator {
			i += size
			continue
		}
		j := i + size
		for j < len(text) {
			c, n := classAt(text, j)
			if c != class {
				break
			}
			j += n
		}
		if class == wide {
			s.segments(i, j)
		} else {
			s.run(i, j)
		}
		i = j
	}
}

// scanner is at work on one text.
type scanner struct {
	*Scanner
	text  string
	yield func(Token)
}

// class is what a rune does to a run of text.
type class uint8

const (
	separator class = iota // ends a run
	narrow                 // ASCII of words, names and paths, and letters of alphabets
	wide                   // East Asian scripts and everything after them
)

// classAt returns the class and the size in bytes of the rune at i.
func classAt(text string, i int) (class, int) {
	if c := text[i]; c < utf8.RuneSelf {
		if isAlnum(c) || strings.IndexByte("_.-/\\:@+#~%", c) >= 0 {
			return narrow, 1
		}
		return separator, 1
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

// emit yields text[i:j] with the term norm.
func (s *scanner) emit(k Kind, i, j int, norm string) {
	if k == Part && s.Whole {
		return
	}
	s.yield(Token{Term: hash(norm), Kind: k, Start: i, End: j})
}

// hash is FNV-1a, 64 bits; offset basis and prime are those of its authors.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
