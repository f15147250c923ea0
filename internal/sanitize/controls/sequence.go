package controls

import (
	"strings"
	"unicode/utf8"
)

// This file reads the sequences that programs write to a terminal: colours, movements of the
// cursor, titles, links, images (ECMA-48, ECMA-35, and the title that screen begins with ESC k).
// Their letters are no words, so a sequence is removed as a whole.

const (
	esc       = 0x1b
	bell      = 0x07
	backspace = 0x08
)

// sequence returns the length of the terminal sequence at the start of b, or 0 if none is there. A
// malformed one is its first control alone, so that no word is lost with it. One that the end of b
// cuts off is all of b if it has only parameters yet.
func sequence(b []byte) int {
	letter, first, n := introducer(b)
	if n == 0 {
		return 0
	}
	switch letter {
	case '[':
		if end := parameters(b, n); end > 0 {
			return end
		}
	case ']', 'P', 'X', '^', '_', 'k':
		if end := stringEnd(b, n, letter == ']'); end > 0 {
			return end
		}
	case 'N', 'O', '(', ')', '*', '+', '-', '.', '/', '#', '%':
		if n < len(b) && '0' <= b[n] && b[n] <= '~' { // a key, or a set of characters
			return n + 1
		}
	default:
		if b[0] != esc || strings.IndexByte(`78=><cDEHMZ\`, letter) >= 0 {
			return n
		}
	}
	return first
}

// introducer reads ESC and a letter, or the C1 control that is the same. It returns the letter, the
// length of the first control, and the length of both. A byte that is no UTF-8 counts as C1 in an
// 8-bit text: its length is 0 as long as no sequence of it is whole.
func introducer(b []byte) (letter byte, first, n int) {
	switch r, size := utf8.DecodeRune(b); {
	case b[0] == esc && len(b) > 1:
		return b[1], 1, 2
	case b[0] == esc:
		return 0, 1, 1
	case IsC1(r):
		return byte(r) - 0x40, size, size
	case r == utf8.RuneError && size == 1 && b[0] == 0x9b && len(b) > 1 && isDigit(b[1]):
		return '[', 0, 1
	case r == utf8.RuneError && size == 1 && (b[0] == 0x90 || b[0] == 0x9d):
		return b[0] - 0x40, 0, 1
	}
	return 0, 0, 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parameters returns the end of the control sequence whose parameters begin at b[i], or 0 if it is
// malformed.
func parameters(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '?' {
		i++
	}
	for i < len(b) && ' ' <= b[i] && b[i] <= '/' {
		i++
	}
	switch {
	case i == len(b):
		return i
	case '@' <= b[i] && b[i] <= '~':
		return i + 1
	}
	return 0
}

// stringEnd returns the end of the control string whose text begins at b[i], or 0 if it has no
// terminator before the next control. Only a command to the system (OSC) ends at a bell, and none
// of these has line feeds.
func stringEnd(b []byte, i int, command bool) int {
	for i < len(b) {
		switch c := b[i]; {
		case c == bell && command:
			return i + 1
		case c == esc && i+1 < len(b) && b[i+1] == '\\':
			return i + 2
		case c == esc || c == '\n' && command:
			return 0
		case c < utf8.RuneSelf:
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == 0x9c || r == utf8.RuneError && n == 1 && b[i] == 0x9c:
			return i + n
		case IsC1(r):
			return 0
		}
		i += n
	}
	return 0
}

// overstrike returns the length of the rune and the backspace at the start of b if a printer would
// strike the same rune or another one over it, as manuals do for bold and underlined words; or 0.
func overstrike(b []byte) int {
	r, n := utf8.DecodeRune(b)
	if n+1 >= len(b) || b[n] != backspace {
		return 0
	}
	if next, _ := utf8.DecodeRune(b[n+1:]); next > ' ' && (next == r || r == '_') &&
		r != utf8.RuneError {
		return n + 1
	}
	return 0
}
