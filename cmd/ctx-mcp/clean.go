package main

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/sanitize"
)

// isControl reports whether a character is for no reader: it only controls a terminal (DEL, C1, and
// C0 except tab and line ends), or hides text or reorders it.
func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r < 0xa0 ||
		sanitize.Hides(r)
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
			r, n := escaped(b[i:])
			if !isControl(r) {
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

// escaped returns the character that a JSON escape at the start of b stands for, and the length of
// the escape. Of one that stands for itself it returns a letter.
func escaped(b []byte) (rune, int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		if first, ok := unit(b); ok {
			second, _ := unit(b[6:])
			if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
				return r, 12
			}
			return first, 6
		}
	}
	return 'a', 2
}

// unit returns the code unit that b begins with as \uXXXX.
func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
