// Package prose says what a line is by its words alone: a rule, a doubt, a step of a plan, an
// announcement, a heading, a line that tells nothing by itself.
//
// The package is pure and has no state. Its tables are words of English, and of a dozen other
// languages for rules. Nothing here knows who said a line: a caller asks only of lines whose
// speaker it knows. Begin with IsBare and IsRule.
package prose

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Squeeze makes one line of a text by turning white space into single spaces.
func Squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// OneLine is squeeze for a text that may be invalid UTF-8.
func OneLine(s string) string { return Squeeze(Valid(s)) }

// Valid returns s with a replacement character in the place of what is no UTF-8.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// FirstLine returns the first non-empty line of s with single spaces, cut to most bytes.
func FirstLine(s string, most int) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = Squeeze(line); line != "" {
			return Cut(line, most)
		}
	}
	return ""
}

// Short is Cut of the one line that Squeeze makes.
func Short(s string, most int) string { return Cut(Squeeze(s), most) }

// Cut returns s, or the beginning of s with an ellipsis if s has more than most bytes. It cuts
// between words if there is a space in the second half.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if i := strings.LastIndexByte(s[:n], ' '); i > n/2 {
		n = i
	}
	return strings.TrimRight(s[:n], " ") + " …"
}

// IsNumbered reports whether a line belongs to a numbered listing: it is a number followed by an
// arrow, a colon, a bar or a hyphen, or consists of digits and punctuation.
func IsNumbered(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) == len(line) {
		return false
	}
	if strings.TrimLeft(rest, "0123456789 ,.") == "" {
		return true
	}
	return strings.HasPrefix(rest, "→") || strings.IndexByte("|-:", rest[0]) >= 0
}

// HasWord reports whether a line tells something: it has a word of three letters, and is not only
// the name of a number.
func HasWord(line string) bool {
	if name, value, ok := strings.Cut(line, ":"); ok && !strings.Contains(name, " ") &&
		!strings.ContainsFunc(value, IsLetter) {
		return false
	}
	run := 0
	for _, r := range line {
		if run++; !IsLetter(r) {
			run = 0
		}
		if run == 3 {
			return true
		}
	}
	return false
}

// IsLetter reports whether a rune is a letter, or any that is not ASCII.
func IsLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7F }

// HasLead reports whether s begins with one of leads.
func HasLead(s string, leads []string) bool {
	return slices.ContainsFunc(leads, func(l string) bool { return strings.HasPrefix(s, l) })
}

// HasAny reports whether one of words stands in s.
func HasAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
