package summarize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a sentence, or a line of code or output.
type piece struct {
	text     string
	quarters int  // estimated tokens, in quarters
	line     bool // of code or output
	more     bool // the sentence goes on in the next piece
}

// The limits of a piece. Hardly any sentence has more than maxWords words; maxRunes is for text
// without spaces.
const (
	maxWords = 60
	maxRunes = 480
)

// split returns the sentences of a text. If output is true, and inside fences of three backquotes
// or tildes, it returns lines instead. Every piece has a letter or a digit.
func split(text string, output bool) []piece {
	return sentences(text, output, withoutLead)
}

// sentences is split with another function trim, which removes filler words at the start of a
// sentence.
func sentences(text string, output bool, trim func(string) string) []piece {
	var list []piece
	fenced := false
	for line := range strings.SplitSeq(bounded(text), "\n") {
		line = spaced(line)
		switch {
		case IsFence(line):
			fenced = !fenced
		case fenced || output:
			list = appendPieces(list, line, true)
		default:
			for line != "" {
				n := sentenceEnd(line)
				list = appendPieces(list, trim(strings.TrimSpace(line[:n])), false)
				line = strings.TrimSpace(line[n:])
			}
		}
	}
	return list
}

// IsFence reports whether a line begins or ends code: words in backquotes may stand at the start of
// a sentence.
func IsFence(line string) bool {
	rest, ok := strings.CutPrefix(line, "```")
	return ok && !strings.Contains(strings.TrimLeft(rest, "`"), "`") ||
		strings.HasPrefix(line, "~~~")
}

// spaced returns a text with single spaces, and no other white space, between its words.
func spaced(text string) string {
	before := byte(' ')
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf || c < ' ' || c == ' ' && before == ' ' {
			return strings.Join(strings.Fields(text), " ")
		}
		before = c
	}
	return strings.TrimSuffix(text, " ")
}

// spoken returns the sentences of a user's message to a model with all their words. A sentence that
// says little by itself is joined with a neighbour if both fit in one piece: a sentence of one or
// two words with the next sentence, and a sentence that begins by referring back with the previous
// one.
func spoken(text string) []piece {
	rest := spaced(bounded(text))
	var list []piece
	for _, p := range sentences(text, false, strings.TrimSpace) {
		between, after, _ := strings.Cut(rest, p.text)
		rest = after
		if n := len(list); n > 0 && between == " " &&
			(isBrief(list[n-1].text) || leansBack(p.text)) {
			if joined, ok := list[n-1].with(p); ok {
				list[n-1] = joined
				continue
			}
		}
		list = append(list, p)
	}
	return list
}

// with joins a sentence with the next one. ok is false if the result is too long for one piece.
func (p piece) with(next piece) (piece, bool) {
	text := p.text + " " + next.text
	if p.line || next.line || pieceEnd(text) < len(text) {
		return piece{}, false
	}
	_, q := measure(text)
	return piece{text: text, quarters: q}, true
}

// isBrief reports whether a sentence has fewer than three words.
func isBrief(s string) bool { return strings.Count(s, " ") < 2 }

// leansBack reports whether a sentence begins with a conjunction or with a pronoun.
func leansBack(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	word, _, _ = strings.Cut(strings.ToLower(strings.TrimRight(word, ",")), "'")
	switch word {
	case "and", "but", "or", "nor", "so", "because", "then", "otherwise", "it", "its", "they",
		"them", "their", "he", "she", "his", "her", "this", "these", "those", "that", "both",
		"neither", "which":
		return true
	}
	return false
}

// bounded returns text as valid UTF-8. Of a text longer than maxText it returns the first and the
// last half of maxText, without the runes that the cut splits.
func bounded(text string) string {
	if len(text) > maxText {
		i, j := maxText/2, len(text)-maxText/2
		for k := 0; k < utf8.UTFMax && !utf8.RuneStart(text[i]); k++ {
			i--
		}
		for k := 0; k < utf8.UTFMax && !utf8.RuneStart(text[j]); k++ {
			j++
		}
		text = text[:i] + "\n" + text[j:]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// appendPieces appends s, split into pieces of the largest allowed size. It skips pieces without
// letters and digits.
func appendPieces(list []piece, s string, line bool) []piece {
	for s != "" {
		n := pieceEnd(s)
		p := strings.TrimSpace(s[:n])
		if strings.ContainsFunc(p, readable) {
			_, q := measure(p)
			list = append(list, piece{text: p, quarters: q, line: line, more: n < len(s)})
		}
		s = strings.TrimLeft(s[n:], " ")
	}
	return list
}

func readable(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// pieceEnd returns the end of the longest piece at the start of s: after maxWords words, or at the
// last space before maxRunes runes, or after maxRunes runes.
func pieceEnd(s string) int {
	words, runes, space := 0, 0, 0
	for i, r := range s {
		if r == ' ' {
			if words++; words == maxWords {
				return i
			}
			space = i
		}
		if runes++; runes > maxRunes {
			if space > 0 {
				return space
			}
			return i
		}
	}
	return len(s)
}

// sentenceEnd returns the end of the first sentence of a line, including closing quotes and
// brackets.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && c != '.' && c != '!' && c != '?' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		switch r {
		case '。', '！', '？', '｡':
			return end + closing(s[end:])
		case '.', '!', '?':
			end += closing(s[end:])
			if end == len(s) ||
				s[end] == ' ' && startsSentence(s[end+1:]) && !(r == '.' && abbreviated(s[:i])) {
				return end
			}
		}
		i = end
	}
	return len(s)
}

// closing returns the number of bytes of end marks, quotes and brackets at the start of s.
func closing(s string) int {
	return len(s) - len(strings.TrimLeft(s, ".!?\"')]*_”’」』"))
}

// startsSentence reports whether s may begin a sentence, which is everything except a lower-case
// letter.
func startsSentence(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsLower(r)
}

// abbreviated reports whether a full stop after s belongs to an abbreviation, an initial or the
// number of a list item.
func abbreviated(s string) bool {
	word := strings.ToLower(strings.TrimLeft(s[strings.LastIndexByte(s, ' ')+1:], "(\"'["))
	switch word {
	case "e.g", "i.e", "etc", "vs", "cf", "al", "fig", "no", "nr", "mr", "mrs", "ms", "dr", "st",
		"prof", "approx", "resp":
		return true
	}
	s, word = strings.TrimLeft(s, "*_"), strings.TrimLeft(word, "*_") // in bold
	return len(word) == 1 && word[0] >= 'a' && word[0] <= 'z' ||
		len(word) == len(s) && word != "" && len(word) <= 3 &&
			strings.Trim(word, "0123456789") == ""
}

// maxLead is the largest number of words that withoutLead removes.
const maxLead = 4

// withoutLead removes filler words at the start of s, as long as three words follow.
func withoutLead(s string) string {
	for range maxLead {
		word, rest, _ := strings.Cut(s, " ")
		if !isLead(strings.ToLower(strings.TrimRight(word, ",.!:…"))) ||
			strings.Count(rest, " ") < 2 {
			break
		}
		s = rest
	}
	return s
}

func isLead(w string) bool {
	switch w {
	case "ok", "okay", "well", "so", "yeah", "yep", "yes", "hmm", "hm", "um", "uh", "oh", "ah",
		"hi", "hey", "hello", "thanks", "also", "anyway", "basically", "alright", "great", "cool",
		"and", "lol", "haha", "btw", "sure":
		return true
	}
	return false
}
