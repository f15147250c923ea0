package markup

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// isSpecial reports whether appendText has to look at a byte: markup, controls, the first bytes of
// characters that reorder text, and the bracket of a redacted secret.
func isSpecial(c byte) bool {
	switch c {
	case '&', '<', '>', '"', '\'', '[', 0x7f, 0xc2, 0xd8, 0xe2:
		return true
	case '\t', '\n':
		return false
	}
	return c < 0x20
}

// redacted begins the words that stand in the place of a secret. The class and a bracket follow.
const redacted = "[REDACTED:"

// appendText appends a text so that a browser shows exactly its characters, and reads nothing else
// from it: no tag, no entity, no comment, no end of a script. A character that reorders the text
// after it is kept, in an element that limits it to itself. Controls but tab and line feed become
// U+FFFD; a carriage return stays, as a reference. Bytes that are no UTF-8 stay: browsers show
// U+FFFD for them, and every byte of ASCII beside them is escaped like any other.
func appendText(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		start := i
		for i < len(s) && !isSpecial(s[i]) {
			i++
		}
		b = append(b, s[start:i]...)
		if i == len(s) {
			break
		}
		if s[i] == '[' {
			if n := redactedLen(s[i:]); n > 0 {
				b = append(append(append(b, "<mark>"...), s[i:i+n]...), "</mark>"...)
				i += n
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case reorders(r):
			b = fmt.Appendf(b, `<i class=b data-c=%04X>%c</i>`, r, r)
		case s[i] < utf8.RuneSelf:
			b = appendASCII(b, s[i])
		case r == utf8.RuneError || r < 0xa0:
			b = append(b, "\uFFFD"...)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return b
}

func appendASCII(b []byte, c byte) []byte {
	switch c {
	case '&':
		return append(b, "&amp;"...)
	case '<':
		return append(b, "&lt;"...)
	case '>':
		return append(b, "&gt;"...)
	case '"':
		return append(b, "&#34;"...)
	case '\'':
		return append(b, "&#39;"...)
	case '\r':
		return append(b, "&#13;"...)
	}
	if c < 0x20 && c != '\t' && c != '\n' || c == 0x7f {
		return append(b, "\uFFFD"...)
	}
	return append(b, c)
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

// appendAttr appends a value of an attribute in double quotes, as one line.
func appendAttr(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b = append(b, ' ')
		case r < utf8.RuneSelf:
			b = appendASCII(b, byte(r))
		case reorders(r) || r < 0xa0:
			b = append(b, "\uFFFD"...)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// appendValue is appendAttr, without the quotes where they are not needed.
func appendValue(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; !isPlain(c) && c != '/' || i == len(s)-1 && c == '/' {
			return appendAttr(b, s)
		}
	}
	if s == "" {
		return appendAttr(b, s)
	}
	return append(b, s...)
}

func isPlain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' ||
		c == '.' || c == '_'
}

// appendName appends a name or a label: one line, which reorders nothing beside it.
func appendName(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] >= 0x80 {
			b = append(b, "<bdi>"...)
			return append(appendText(b, oneLine(s)), "</bdi>"...)
		}
	}
	return appendText(b, oneLine(s))
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return r
	}, s)
}
