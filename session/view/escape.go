package view

import "strings"

// escapeQuoted writes what others said so that no tag, no line of ours and no entity is in it that they made: a less-than sign that could begin
// one, an ampersand that would be read as part of one, and fences. Everything else stays as it was said, commands and comparisons
// included, since it is to be found again by its words.
func escapeQuoted(s string) string {
	if !strings.ContainsAny(s, "<&`") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '<' && opens(s[i+1:]):
			b.WriteString("&lt;")
		case s[i] == '&' && isEntity(s[i+1:]):
			b.WriteString("&amp;")
		case strings.HasPrefix(s[i:], "```"):
			b.WriteString("'''")
			i += len("```") - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// opens reports whether a less-than sign before s could begin a tag.
func opens(s string) bool {
	return s != "" && (isAlnum(s[0]) || s[0] == '/' || s[0] == '!' || s[0] == '?' || s[0] >= 0x80)
}

// isEntity reports whether an ampersand before s would be read as the start of a character's name.
func isEntity(s string) bool {
	n := 0
	for n < len(s) && n < 10 && (isAlnum(s[n]) || s[n] == '#') {
		n++
	}
	return n > 0 && n < len(s) && s[n] == ';'
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// Quote is what others said as it stands in the block, for who quotes it elsewhere.
func Quote(s string) string { return escapeQuoted(s) }
