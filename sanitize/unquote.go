package sanitize

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// brokenByte represents half a surrogate pair in decoded text. It is never part of valid UTF-8, so
// strip counts and replaces it like any broken byte.
const brokenByte = 0xff

// unquote decodes a valid JSON string, given without its quotes. Unlike encoding/json, it keeps
// broken UTF-8, so that strip finds it. If s has no escapes, unquote returns s itself.
func unquote(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	return appendUnquoted(make([]byte, 0, len(s)), s)
}

// appendUnquoted appends the decoded form of s to out.
func appendUnquoted(out, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(out, s...)
		}
		out = append(out, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		if c != 'u' {
			out = append(out, chars.Unescape(c))
			continue
		}
		r, used := unit(s)
		s = s[used:]
		if r < 0 {
			out = append(out, brokenByte)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
}

// unit decodes the four digits of a \u escape at the start of s and, for a surrogate pair, the
// second escape too. It returns the rune, or -1 for half a pair, and the number of bytes that it
// decoded.
func unit(s []byte) (r rune, n int) {
	r = hex4(s)
	if !utf16.IsSurrogate(r) {
		return r, 4
	}
	if bytes.HasPrefix(s[4:], []byte(`\u`)) {
		if pair := utf16.DecodeRune(r, hex4(s[6:])); pair != utf8.RuneError {
			return pair, 10
		}
	}
	return -1, 4
}

// hex4 reads four hexadecimal digits.
func hex4(s []byte) rune {
	n, err := strconv.ParseUint(string(s[:4]), 16, 32)
	if err != nil {
		panic("sanitize: escape in valid JSON: " + err.Error())
	}
	return rune(n)
}
