package main

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// isControl reports whether a character only controls a terminal: DEL, C1, and C0 except tab and
// line ends.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0
}

// cleanText removes control characters from a text.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, s)
}

// cleanJSON removes control characters, escaped or not, from all texts of a JSON value. Stores
// seldom have any, since appends are cleaned.
func cleanJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\' && i+1 < len(b):
			n := 2
			if b[i+1] == 'u' && i+6 <= len(b) {
				n = 6
			}
			if !steers(b[i : i+n]) {
				out = append(out, b[i:i+n]...)
			}
			i += n
		default:
			r, n := utf8.DecodeRune(b[i:])
			if !isControl(r) {
				out = append(out, b[i:i+n]...)
			}
			i += n
		}
	}
	return out
}

// steers reports whether a JSON escape stands for a control character.
func steers(escape []byte) bool {
	if len(escape) < 6 {
		return escape[1] == 'b' || escape[1] == 'f'
	}
	digits := bytes.ToLower(escape[2:])
	if digits[0] != '0' || digits[1] != '0' {
		return false
	}
	r := rune(hexDigit(digits[2])<<4 | hexDigit(digits[3]))
	return isControl(r)
}

func hexDigit(c byte) int { return strings.IndexByte("0123456789abcdef", c) & 0xf }
