package live

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// redacted begins the words that stand in the place of a secret. The class and a bracket follow.
const redacted = "[REDACTED:"

// appendText appends a text so that a browser shows exactly its characters, and reads nothing else
// from it: no tag, no entity, no comment, no end of a script. A character that reorders the text
// after it is kept, in an element that limits it to itself. Controls but tab and line feed become
// U+FFFD; a carriage return stays, as a reference.
func appendText(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '&':
			b = append(b, "&amp;"...)
		case r == '<':
			b = append(b, "&lt;"...)
		case r == '>':
			b = append(b, "&gt;"...)
		case r == '"' || r == '\'' || r == '\r':
			b = fmt.Appendf(b, "&#%d;", r)
		case r == '[' && redactedLen(s[i:]) > 0:
			n = redactedLen(s[i:])
			b = append(append(append(b, "<mark>"...), s[i:i+n]...), "</mark>"...)
		case reorders(r):
			b = fmt.Appendf(b, `<i class=b data-c=%04X>%c</i>`, r, r)
		case r < 0x20 && r != '\t' && r != '\n' || r >= 0x7f && r < 0xa0:
			b = utf8.AppendRune(b, utf8.RuneError)
		default:
			b = utf8.AppendRune(b, r)
		}
		i += n
	}
	return b
}

// reorders reports whether a character changes the direction of the text after it.
func reorders(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069
}

// redactedLen returns the length of the words that stand in the place of a secret at the beginning
// of s; 0 for other text.
func redactedLen(s string) int {
	rest, ok := strings.CutPrefix(s, redacted)
	if !ok {
		return 0
	}
	for i := range min(len(rest), 64) {
		switch c := rest[i]; {
		case c == ']' && i > 0:
			return len(redacted) + i + 1
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
		default:
			return 0
		}
	}
	return 0
}

// appendName appends a name or a label: one line, which reorders nothing beside it.
func appendName(b []byte, s string) []byte {
	s = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s)
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return append(appendText(append(b, "<bdi>"...), s), "</bdi>"...)
		}
	}
	return appendText(b, s)
}

// appendIn appends a text in an element; without one if tag is "".
func appendIn(b []byte, tag, s string) []byte {
	if tag == "" {
		return appendText(b, s)
	}
	return fmt.Appendf(appendText(fmt.Appendf(b, "<%s>", tag), s), "</%s>", tag)
}

// isDiff reports whether lines of a text that begin with + and - were added and removed.
func isDiff(s string) bool {
	return strings.Contains(s, "\n@@ ") || strings.HasPrefix(s, "@@ ") ||
		strings.HasPrefix(s, "diff --git ") ||
		strings.Contains(s, "*** Begin Patch")
}

// appendLines appends a text. The lines of a diff are marked.
func appendLines(b []byte, s string) []byte {
	if !isDiff(s) {
		return appendText(b, s)
	}
	for line := range strings.Lines(s) {
		b = appendIn(b, lineTag(line), line)
	}
	return b
}

// lineTag returns the element of a line of a diff; "" for a line that stays.
func lineTag(line string) string {
	switch {
	case strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---"):
		return ""
	case strings.HasPrefix(line, "+"):
		return "ins"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return ""
}
