package search

import (
	_ "embed" // the letters
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold removes the accents of Latin and Greek letters, precomposed or combining, so that "café" and
// "cafe" match, and writes the wide forms of ASCII as ASCII: "ＡＢＣ" as "ABC", and other forms of a
// letter as the letter: "ﾃﾞｰﾀ" as "データ", "𝐁" as "B", "x²" as "x2". It writes ligatures as two
// letters: "ß" becomes "ss"; the last sigma of a word as any other, and "ё" as "е". It leaves out
// what has no width, as a soft hyphen, and the points of Hebrew and Arabic. It keeps case and all
// other characters.
func Fold(text string) string {
	if isASCIIText(text) {
		return text
	}
	folded, _ := fold(text, false)
	return folded
}

// foldWithPlaces is Fold with the offset in text of each byte of the result, and of its end. places
// is nil if all offsets are the same.
func foldWithPlaces(text string) (folded string, places []int) {
	if isASCIIText(text) {
		return text, nil
	}
	return fold(text, true)
}

func fold(text string, withPlaces bool) (string, []int) {
	var b strings.Builder
	b.Grow(len(text))
	var places []int
	letter := false
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			start := i
			for ; i < len(text) && text[i] < utf8.RuneSelf; i++ {
				if withPlaces {
					places = append(places, i)
				}
			}
			letter = isLatin(text[i-1])
			b.WriteString(text[start:i])
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		out := text[i : i+size]
		if n := forms(text[i:]); n > 0 {
			size = n
			out = norm.NFKC.String(text[i : i+n])
			r, n = utf8.DecodeRuneInString(out)
			if n < len(out) || n == 1 {
				r, letter = 0, isLatin(out[len(out)-1])
			}
		}
		switch base := bases.get()[r]; {
		case noWidth(r):
			out = ""
		case r >= firstWide && r <= lastWide:
			out = string(r - firstWide + '!')
			letter = isLatin(out[0])
		case base != "":
			out, letter = base, true
		case r >= 'Α' && r <= 'ω':
			letter = true
		case letter && isAccent(r):
			out = ""
		case r != 0:
			letter = false
		}
		b.WriteString(out)
		for range len(out) {
			if withPlaces {
				places = append(places, i)
			}
		}
		i += size
	}
	if withPlaces {
		places = append(places, len(text))
	}
	return b.String(), places
}

// The wide forms of the ASCII characters from '!' to '~'.
const (
	firstWide = 0xff01
	lastWide  = 0xff5e
)

// forms returns the length of the other forms of letters and digits with which text begins, and of
// the marks that make one letter with them: halfwidth katakana, Hangul and Cyrillic that is taken
// apart, as names of files are on some systems, ligatures, raised digits, Roman numerals, letters
// of mathematics, and squares of letters.
func forms(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		next, more := utf8.DecodeRuneInString(text[n+size:])
		switch {
		case unicode.Is(otherForms, r):
			n += size
		case unicode.In(r, unicode.Hiragana, unicode.Katakana) && unicode.Is(voiced, next),
			unicode.Is(unicode.Cyrillic, r) && (next == 0x306 || next == 0x308):
			n += size + more
		default:
			return n
		}
	}
	return n
}

var (
	otherForms = &unicode.RangeTable{
		R16: []unicode.Range16{{0xb2, 0xb3, 1}, {0xb9, 0xb9, 1}, {0x1100, 0x11ff, 1},
			{0x2070, 0x209c, 1}, {0x2160, 0x217f, 1}, {0x3300, 0x33ff, 1}, {0xfb00, 0xfb06, 1},
			{0xff66, 0xff9f, 1}},
		R32:         []unicode.Range32{{0x1d400, 0x1d7ff, 1}},
		LatinOffset: 2,
	}
	// voiced has the marks of a voiced kana, also in their halfwidth form.
	voiced = &unicode.RangeTable{R16: []unicode.Range16{{0x3099, 0x309a, 1}, {0xff9e, 0xff9f, 1}}}
)

// noWidth reports whether a rune only says where a word may be broken.
func noWidth(r rune) bool {
	return r == 0xad || r == 0x200b || r == 0x2060 || r == 0xfeff || isPoint(r)
}

// isPoint reports whether a rune is a point or an accent of Hebrew, between which are punctuation
// marks, or a vowel or a stretched line of Arabic. Few texts have them.
func isPoint(r rune) bool {
	return r >= 0x591 && r <= 0x5c7 && r != 0x5be && r != 0x5c0 && r != 0x5c3 && r != 0x5c6 ||
		r >= 0x64b && r <= 0x65f || r == 0x670 || r == 0x640
}

func isLatin(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

// isAccent reports whether a rune is a combining diacritical mark.
func isAccent(r rune) bool { return r >= 0x300 && r <= 0x36f }

// bases maps accented letters to their base letters.
var bases = madeOnce[rune]{make: func() map[rune]string {
	m := map[rune]string{'ß': "ss", 'ẞ': "SS", 'æ': "ae", 'Æ': "AE", 'œ': "oe", 'Œ': "OE"}
	for _, line := range strings.Split(strings.TrimSpace(accented), "\n") {
		base, letters, _ := strings.Cut(line, " ")
		for _, r := range letters {
			m[r] = base
		}
	}
	return m
}}

// accented has a line for each base letter with the letters that decompose to it: those of Latin-1
// Supplement, Latin Extended-A and -B, and Latin Extended Additional (Unicode 15), letters with a
// stroke or without a dot, and those of Greek, also with breathings, and Russian.
//
//go:embed accented.txt
var accented string
