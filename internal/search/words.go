package search

import (
	_ "embed" // the forms
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/tamil"
	"golang.org/x/text/unicode/norm"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// scan yields the tokens of text as they are indexed. Irregular forms of a word, which have no
// common stem, get the term of their base form, and words of other alphabets that of their stem.
func scan(s *terms.Scanner, text string, yield func(t terms.Token, word string)) {
	s.Scan(text, func(t terms.Token) {
		word := ""
		if t.Kind == terms.Word || t.Kind == terms.Part {
			word = strings.ToLower(text[t.Start:t.End])
			base := irregular.get()[word]
			if base == "" {
				base = otherStem(word)
			}
			if base != "" {
				terms.Scan(base, func(b terms.Token) { t.Term = b.Term })
			}
		}
		yield(t, word)
		if t.Kind == terms.Word && runsOn(word) {
			pieces(text, t, yield)
		}
	})
}

// otherStem returns the stem of a lower-case word of another alphabet, or "" if its endings are not
// known here. A language whose letters are Latin cannot be told by a word.
func otherStem(word string) string {
	r, size := utf8.DecodeRuneInString(word)
	if size < 2 || len(word) > 60 {
		return ""
	}
	switch {
	case unicode.Is(unicode.Greek, r):
		return greekStem(word)
	case unicode.Is(unicode.Hebrew, r):
		return hebrewStem(word)
	case unicode.Is(unicode.Arabic, r):
		return arabicStem(word)
	}
	env := snowballstem.NewEnv(word)
	switch {
	case unicode.Is(unicode.Cyrillic, r):
		russian.Stem(env)
	case unicode.Is(unicode.Tamil, r):
		tamil.Stem(env)
	default:
		return ""
	}
	return env.Current()
}

// runsOn reports whether a word is of a script that writes its words without spaces between, or
// with endings: katakana and Hangul. The characters of the other such scripts (Han, hiragana, Thai,
// Lao, Khmer) are tokens of their own.
func runsOn(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size < len(word) && (unicode.In(r, unicode.Katakana, unicode.Hangul) || r == 'ー')
}

// pieces yields what parts of such a word may be asked for: every two neighboring characters, and
// the first one, because a noun of one syllable has its ending behind it.
func pieces(text string, whole terms.Token, yield func(t terms.Token, word string)) {
	add := func(i, j int) {
		piece := text[i:j]
		terms.Scan(piece, func(t terms.Token) {
			if t.Kind == terms.Word && t.End-t.Start == len(piece) {
				yield(terms.Token{Term: t.Term, Kind: terms.Part, Start: i, End: j}, piece)
			}
		})
	}
	before := whole.Start
	for i := range text[whole.Start:whole.End] {
		at := whole.Start + i
		_, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case at == whole.Start:
			add(at, at+size)
		case before > whole.Start || at+size < whole.End: // the whole word is there already
			add(before, at+size)
		}
		before = at
	}
}

// irregularForms has a line for each word: its irregular forms, and its base form.
//
//go:embed irregular.txt
var irregularForms string

// irregular maps irregular forms of English words, which a stemmer does not unite, to their base
// forms.
var irregular = madeOnce[string]{make: func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(irregularForms) {
		words := strings.Fields(line)
		base := words[len(words)-1]
		for _, w := range words[:len(words)-1] {
			m[w] = base
		}
	}
	return m
}}

// tellsTime reports whether a lower-case word expresses a time.
func tellsTime(word string) bool {
	switch word {
	case "yesterday", "today", "tonight", "tomorrow", "ago", "last", "next", "week", "weekend",
		"weeks", "month", "months", "year", "years", "day", "days",
		"hour", "hours", "minute", "minutes", "morning", "afternoon", "evening", "night",
		"recently", "soon", "earlier", "later",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january",
		"february", "march", "april", "june", "july",
		"august", "september", "october", "november", "december", "spring", "summer", "autumn",
		"fall", "winter":
		return true
	}
	return false
}

// asks reports whether a lower-case word belongs to the asking and not to the subject of a
// question.
func asks(word string) bool {
	switch word {
	case "summarize", "summarise", "summary", "describe", "description", "explain", "discuss",
		"discussed", "discussion", "discussions",
		"talk", "talked", "mention", "mentioned", "tell", "told", "opinion", "opinions", "thought",
		"thoughts", "contribute",
		"conclude", "concluded", "conclusion", "happen", "happened", "feel", "find", "show", "list",
		"give", "ask", "asked",
		"answer", "question", "issue", "regarding", "concerning", "kind", "type", "way", "people",
		"team", "group":
		return true
	}
	return false
}

// isCommon reports whether a lower-case word is common in all talk. The frequencies of a short
// conversation do not show this.
func isCommon(word string) bool {
	switch word {
	case "take", "took", "taken", "takes", "new", "long", "time", "work", "works", "worked",
		"working", "first", "last", "good", "look", "looked",
		"come", "came", "gave", "given", "found", "seem", "try", "tried", "leave", "left", "call",
		"called", "put", "mean", "keep", "kept", "begin",
		"help", "turn", "start", "started", "run", "runs", "ran", "move", "live", "bring", "write",
		"wrote", "provide", "meet", "include", "continue",
		"set", "learn", "change", "changed", "changes", "lead", "understand", "follow", "stop",
		"create", "add", "spend", "grow", "open", "wait", "send",
		"expect", "build", "stay", "fall", "cut", "reach", "remain", "great", "little", "old",
		"right", "big", "high", "different", "small", "large", "next",
		"early", "important", "bad", "able", "part", "place", "case", "point", "week", "company",
		"number", "problem", "fact", "hand", "man", "woman",
		"day", "year", "world", "life", "general", "much", "short", "full", "true", "best",
		"better", "always", "often", "sometimes", "exactly", "currently",
		"actually", "future", "progress", "approach", "direction", "main", "current", "certain",
		"several", "various":
		return true
	}
	return false
}

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
