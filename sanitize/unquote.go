package sanitize

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// brokenByte stands for half a surrogate pair in decoded text. It is never
// part of valid UTF-8, so strip counts and replaces it like any broken byte.
const brokenByte = 0xff

// unquote decodes the inside of a valid JSON string. Unlike encoding/json it
// leaves broken UTF-8 as it is, for strip to find. Without escapes it returns
// s itself.
func unquote(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	return appendUnquoted(make([]byte, 0, len(s)), s)
}

// appendUnquoted appends what s says to out. Text without escapes is copied eight bytes at a time.
func appendUnquoted(out, s []byte) []byte {
	n := len(out)
	out = append(out, s...) // room for all of it: an escape is longer than what it stands for
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			if word := binary.LittleEndian.Uint64(s[i:]); !hasByte(word, '\\') {
				binary.LittleEndian.PutUint64(out[n:], word)
				n, i = n+8, i+8
				continue
			}
		}
		if s[i] != '\\' {
			out[n] = s[i]
			n, i = n+1, i+1
			continue
		}
		c := s[i+1]
		i += 2
		if c != 'u' {
			out[n] = plain(c)
			n++
			continue
		}
		r, used := unit(s[i:])
		i += used
		if r < 0 {
			out[n] = brokenByte
			n++
			continue
		}
		n += utf8.EncodeRune(out[n:], r)
	}
	return out[:n]
}

// hasByte reports whether one of the eight bytes of word is c.
func hasByte(word uint64, c byte) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	word ^= uint64(c) * ones
	return (word-ones)&^word&high != 0
}

// plain returns the byte that a backslash and c stand for.
func plain(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// unit decodes the digits of a \u escape at the start of s, with the second
// escape of a surrogate pair. It returns the rune, or -1 for half a pair, and
// how many bytes of s it took.
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
