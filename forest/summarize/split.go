package summarize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a sentence, or a line of code or output.
type piece struct {
	text     string
	quarters int  // estimate of its tokens, in quarters
	line     bool // of code or output
}

// The longest piece. Sixty words are more than almost any sentence has; the other bound is for text without spaces.
const (
	maxWords = 60
	maxRunes = 480
)

// split returns the sentences of text; the lines, where output is true and inside fences of three backquotes or tildes.
// Each has a letter or digit in it.
func split(text string, output bool) []piece {
	return sentences(text, output, withoutLead)
}

// sentences is split; trim cuts what says nothing off the front of a sentence.
func sentences(text string, output bool, trim func(string) string) []piece {
	var list []piece
	fenced := false
	for line := range strings.SplitSeq(bounded(text), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
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

// spoken returns the sentences of what a user says to a model, with all their words. A sentence that
// says little alone is one piece with the sentence that it leans on, where both fit: one of a word or
// two with the sentence after it, and one that begins by pointing back with the sentence before it.
func spoken(text string) []piece {
	rest := strings.Join(strings.Fields(bounded(text)), " ")
	var list []piece
	for _, p := range sentences(text, false, strings.TrimSpace) {
		between, after, _ := strings.Cut(rest, p.text)
		rest = after
		if n := len(list); n > 0 && between == " " && (isBrief(list[n-1].text) || leansBack(p.text)) {
			if joined, ok := list[n-1].with(p); ok {
				list[n-1] = joined
				continue
			}
		}
		list = append(list, p)
	}
	return list
}

// with returns a sentence and the one after it as one piece, if it is no longer than one may be.
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

// leansBack reports whether a sentence begins with a conjunction, or with a word for something that was
// named before it.
func leansBack(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	word, _, _ = strings.Cut(strings.ToLower(strings.TrimRight(word, ",")), "'")
	switch word {
	case "and", "but", "or", "nor", "so", "because", "then", "otherwise", "it", "its", "they", "them", "their",
		"he", "she", "his", "her", "this", "these", "those", "that", "both", "neither", "which":
		return true
	}
	return false
}

// bounded returns text as UTF-8, of a long one its first and last halves of maxText, less the runes that are cut.
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

// appendPieces appends s, cut to the longest piece, where there is anything to read in it.
func appendPieces(list []piece, s string, line bool) []piece {
	for s != "" {
		n := pieceEnd(s)
		p := strings.TrimSpace(s[:n])
		if strings.ContainsFunc(p, readable) {
			_, q := measure(p)
			list = append(list, piece{text: p, quarters: q, line: line})
		}
		s = strings.TrimLeft(s[n:], " ")
	}
	return list
}

func readable(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// pieceEnd returns where the longest piece at the front of s ends: after maxWords words, at the last space before maxRunes
// runes, or there.
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

// sentenceEnd returns where the first sentence of a line ends, its closing quotes and brackets included.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		switch r {
		case '。', '！', '？', '｡':
			return end + closing(s[end:])
		case '.', '!', '?':
			end += closing(s[end:])
			if end == len(s) || s[end] == ' ' && startsSentence(s[end+1:]) && !(r == '.' && abbreviated(s[:i])) {
				return end
			}
		}
		i = end
	}
	return len(s)
}

// closing returns the bytes of end marks, quotes and brackets at the front of s.
func closing(s string) int {
	return len(s) - len(strings.TrimLeft(s, ".!?\"')]*_”’」』"))
}

// startsSentence reports whether s may begin a sentence: anything but a small letter does.
func startsSentence(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsLower(r)
}

// abbreviated reports whether a full stop after s ends a word and not a sentence: after abbreviations, initials, and the
// number of a list's point.
func abbreviated(s string) bool {
	word := strings.ToLower(strings.TrimLeft(s[strings.LastIndexByte(s, ' ')+1:], "(\"'["))
	switch word {
	case "e.g", "i.e", "etc", "vs", "cf", "al", "fig", "no", "nr", "mr", "mrs", "ms", "dr", "st", "prof", "approx", "resp":
		return true
	}
	return len(word) == 1 && word[0] >= 'a' && word[0] <= 'z' ||
		len(word) == len(s) && word != "" && len(word) <= 3 && strings.Trim(word, "0123456789") == ""
}

// maxLead is the number of words that withoutLead cuts at most.
const maxLead = 4

// withoutLead cuts words off the front that say nothing, as long as three words follow.
func withoutLead(s string) string {
	for range maxLead {
		word, rest, _ := strings.Cut(s, " ")
		if !isLead(strings.ToLower(strings.TrimRight(word, ",.!:…"))) || strings.Count(rest, " ") < 2 {
			break
		}
		s = rest
	}
	return s
}

func isLead(w string) bool {
	switch w {
	case "ok", "okay", "well", "so", "yeah", "yep", "yes", "hmm", "hm", "um", "uh", "oh", "ah", "hi", "hey", "hello", "thanks",
		"also", "anyway", "basically", "alright", "great", "cool", "and", "lol", "haha", "btw", "sure":
		return true
	}
	return false
}
