package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// run yields the tokens of a run of narrow runes. It splits the run at colons and trims the
// punctuation around each piece. A colon stays inside an address (https://), after a drive letter,
// and between the digits of a time.
func (s *scanner) run(i, j int) {
	for k := i; k < j; k++ {
		if s.text[k] == ':' && !s.colonInside(i, k, j) {
			s.piece(i, k)
			i = k + 1
		}
	}
	s.piece(i, j)
}

// maxTime is the largest number of bytes before a colon between digits: 12:30:00.
const maxTime = 8

func (s *scanner) colonInside(i, k, j int) bool {
	before, after := s.text[i:k], s.text[k+1:j]
	if before == "" || after == "" {
		return false
	}
	switch {
	case strings.HasPrefix(after, "//"):
		return true
	case len(before) == 1 && isLetter(before[0]) && (after[0] == '\\' || after[0] == '/'):
		return true
	}
	return isDigit(after[0]) && len(before) <= maxTime && strings.Trim(before, "0123456789:") == ""
}

// piece yields the tokens of the text between two colons.
func (s *scanner) piece(i, j int) {
	i, j = s.trim(i, j)
	p := s.text[i:j]
	var has form
	for k := range len(p) {
		has |= formOf(p[k])
	}
	switch {
	case has&(letters|digits) == 0 && (has&others == 0 || !hasLetter(p)):
	case len(p) > maxWhole:
		s.emit(Name, i, j, strings.ToLower(p))
	case has&others != 0:
		s.segments(i, j)
	case has == letters && hump(p) == len(p):
		s.word(Word, i, j)
	case has&digits != 0 && isNumber(p):
		s.emit(Number, i, j, strings.ToLower(p))
	case has&slashes != 0 && isPath(p):
		s.path(i, j)
	default:
		s.name(i, j)
	}
}

// form is a set of classes of bytes, which says most about a piece in one pass.
type form uint8

const (
	letters form = 1 << iota // of ASCII
	digits                   // of ASCII
	slashes
	marks  // the other ASCII characters
	others // not ASCII
)

func formOf(c byte) form {
	switch {
	case isLetter(c):
		return letters
	case isDigit(c):
		return digits
	case c == '/' || c == '\\':
		return slashes
	case c >= utf8.RuneSelf:
		return others
	}
	return marks
}

// trim removes the punctuation around a piece, and underscores that mark emphasis.
func (s *scanner) trim(i, j int) (int, int) {
	j = s.trimEnd(i, j)
	for i < j && strings.IndexByte("-:+#%", s.text[i]) >= 0 {
		i++
	}
	if i == j {
		return i, j
	}
	if s.text[i] == '.' {
		i += stray(s.text[i:j])
	}
	if i < j && (s.text[i] == '_' || s.text[j-1] == '_') &&
		!strings.Contains(strings.Trim(s.text[i:j], "_"), "_") {
		return s.emphasis(i, j)
	}
	return i, j
}

// trimEnd removes the punctuation after a piece.
func (s *scanner) trimEnd(i, j int) int {
	for j > i && strings.IndexByte(".-:@~%/\\", s.text[j-1]) >= 0 {
		j--
	}
	return j
}

// stray returns the number of dots at the start of p that belong to no file name or relative path.
func stray(p string) int {
	rest := strings.TrimLeft(p, ".")
	dots := len(p) - len(rest)
	if rest != "" && (dots == 1 && isAlnum(rest[0]) || dots <= 2 && rest[0] == '/') {
		return 0
	}
	return dots
}

// emphasis removes a single underscore from either side: __init__ is a name, _this_ is not. It also
// removes the punctuation before the underscore at the end, for no path ends with a slash.
func (s *scanner) emphasis(i, j int) (int, int) {
	p := s.text[i:j]
	if strings.HasPrefix(p, "_") && !strings.HasPrefix(p, "__") {
		i++
	}
	if strings.HasSuffix(p, "_") && !strings.HasSuffix(p, "__") && j > i {
		j = s.trimEnd(i, j-1)
	}
	return i, j
}

// path yields a whole path or address, its base name, and the words of the rest. Backslashes become
// slashes, and "./", "../" and "/" at the start are ignored, so that a path is the same term
// wherever it is written.
func (s *scanner) path(i, j int) {
	whole := strings.ReplaceAll(strings.ToLower(s.text[i:j]), `\`, "/")
	for strings.HasPrefix(whole, "./") || strings.HasPrefix(whole, "../") {
		_, whole, _ = strings.Cut(whole, "/")
	}
	s.emit(Name, i, j, strings.TrimLeft(whole, "/"))
	base := i + 1 + strings.LastIndexAny(s.text[i:j], `/\`)
	s.parts(i, base)
	switch {
	case isLetters(s.text[base:j]) && hump(s.text[base:j]) == j-base:
		s.word(Part, base, j)
	default:
		s.emit(Part, base, j, strings.ToLower(s.text[base:j]))
		s.parts(base, j)
	}
}

// name yields a whole identifier, file name or hyphenated word, and its words.
func (s *scanner) name(i, j int) {
	p := s.text[i:j]
	kind := Name
	if isHyphened(p) {
		kind = Word
	}
	if norm := strings.ToLower(p); !isStop(norm) {
		s.emit(kind, i, j, norm)
	}
	s.parts(i, j)
}

// parts yields the words of text[i:j], split at punctuation and at the humps of camelCase. It
// yields nothing if there is only one word.
func (s *scanner) parts(i, j int) {
	if s.Whole {
		return
	}
	for k := i; k < j; {
		if !isAlnum(s.text[k]) {
			k++
			continue
		}
		end := k + hump(s.text[k:j])
		if end-k < j-i {
			s.word(Part, k, end)
		}
		k = end
	}
}

// word yields the ASCII word text[i:j], unless it is a stop word or a single letter.
func (s *scanner) word(k Kind, i, j int) {
	if k == Part && s.Whole {
		return
	}
	w := strings.ToLower(s.text[i:j])
	if len(w) == 1 && isLetter(w[0]) || isStop(w) {
		return
	}
	s.emit(k, i, j, s.stemmed(w))
}

// maxStems is the number of stems that a Scanner remembers, about 2 MB.
const maxStems = 20_000

// stemmed returns the English stem of a lower-case word. A token with other characters than
// letters, or of unusual length, is its own stem.
func (s *scanner) stemmed(w string) string {
	if len(w) < 3 || len(w) > 30 || !isLetters(w) {
		return w
	}
	if stem, ok := s.stems[w]; ok {
		return stem
	}
	if s.env == nil {
		s.env = snowballstem.NewEnv("")
		s.stems = map[string]string{}
	}
	w = strings.Clone(w) // what is remembered must not hold the text
	s.env.SetCurrent(w)
	english.Stem(s.env)
	stem := s.env.Current()
	if len(s.stems) < maxStems {
		// Copies let go of the text that the word is a part of.
		stem = strings.Clone(stem)
		s.stems[strings.Clone(w)] = stem
	}
	return stem
}

// isHyphened reports whether p consists of lower-case letters and hyphens.
func isHyphened(p string) bool {
	for i := range len(p) {
		if p[i] != '-' && !isLower(p[i]) {
			return false
		}
	}
	return true
}

// hump returns the length of the first word in p, which begins with a letter or digit: "parse" in
// "parseURL", "HTTP" in "HTTPServer", "utf8" in "utf8_string".
func hump(p string) int {
	for k := 1; k < len(p); k++ {
		switch {
		case !isAlnum(p[k]):
			return k
		case !isUpper(p[k]):
		case !isUpper(p[k-1]):
			return k
		// Except the s of "URLs"
		case k+1 < len(p) && isLower(p[k+1]) && !(k+2 == len(p) && p[k+1] == 's'):
			return k
		}
	}
	return len(p)
}

// isNumber reports whether p is a number, version, date or amount. Fractions and dates may contain
// slashes.
func isNumber(p string) bool {
	p = strings.TrimPrefix(strings.TrimPrefix(p, "v"), "V")
	if p == "" || !isDigit(p[0]) {
		return false
	}
	return !strings.ContainsAny(p, `/\_`) || strings.Trim(p, "0123456789/") == ""
}

// isPath reports whether p has a slash and is no alternative such as and/or.
func isPath(p string) bool {
	if !strings.ContainsAny(p, `/\`) {
		return false
	}
	a, b, ok := strings.Cut(p, "/")
	return !ok || !isLetters(a) || !isLetters(b) ||
		!isStop(strings.ToLower(a)) && !isStop(strings.ToLower(b))
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }

// isLetters reports whether p consists of ASCII letters, at least one.
func isLetters(p string) bool {
	for i := 0; i < len(p); i++ {
		if !isLetter(p[i]) {
			return false
		}
	}
	return p != ""
}

// hasLetter reports whether p has a letter or a digit of any script.
func hasLetter(p string) bool {
	for _, r := range p {
		if r < utf8.RuneSelf && isAlnum(byte(r)) ||
			r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return true
		}
	}
	return false
}
