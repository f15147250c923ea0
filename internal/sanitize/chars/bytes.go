// Package chars names the alphabets of secrets, finds where a token begins and ends, and tells
// random strings from words.
package chars

import "bytes"

func IsDigit(c byte) bool  { return '0' <= c && c <= '9' }
func IsLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func IsUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func IsLetter(c byte) bool { return IsLower(c) || IsUpper(c) }
func IsAlnum(c byte) bool  { return IsLetter(c) || IsDigit(c) }
func IsSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func IsQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }

func IsHex(c byte) bool { return IsDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// IsWord is the alphabet of identifiers.
func IsWord(c byte) bool { return IsAlnum(c) || c == '_' }

// IsURLSafe is the alphabet of base64url.
func IsURLSafe(c byte) bool { return IsWord(c) || c == '-' }

// IsDotted is the alphabet of base64url with dots between the parts.
func IsDotted(c byte) bool { return IsURLSafe(c) || c == '.' }

// IsBase64 is the alphabet of standard base64 with padding.
func IsBase64(c byte) bool { return IsAlnum(c) || c == '+' || c == '/' || c == '=' }

// IsUpperNum is the alphabet of base32 and bech32 keys.
func IsUpperNum(c byte) bool { return IsUpper(c) || IsDigit(c) }

// IsCredential is the alphabet of a token in a header (token68).
func IsCredential(c byte) bool { return IsBase64(c) || IsDotted(c) || c == '~' }

// NotSpace is the alphabet of a word among blanks.
func NotSpace(c byte) bool { return !IsSpace(c) }

// RunStart returns the start of the run of bytes of an alphabet that ends at end, at least low.
func RunStart(b []byte, low, end int, in func(byte) bool) int {
	for end > low && in(b[end-1]) {
		end--
	}
	return end
}

// RunEnd returns the offset of the first byte at or after i that is not in the alphabet.
func RunEnd(b []byte, i int, in func(byte) bool) int {
	for i < len(b) && in(b[i]) {
		i++
	}
	return i
}

// Only reports whether all bytes of b are in the alphabet.
func Only(b []byte, in func(byte) bool) bool { return RunEnd(b, 0, in) == len(b) }

// IndexFrom is bytes.Index from an offset. It returns an offset into b, or -1.
func IndexFrom(b []byte, from int, sub string) int {
	if from > len(b) {
		return -1
	}
	i := bytes.Index(b[from:], []byte(sub))
	if i < 0 {
		return -1
	}
	return from + i
}

// StartsToken reports whether a token may begin at b[i]: the byte before is no letter or digit, or
// it is the end of an escape for another character. Escapes matter because text is often quoted
// inside other text: \n and %3D end in a letter or digit, and so does a colour sequence without its
// ESC.
func StartsToken(b []byte, i int) bool {
	return i == 0 || !IsAlnum(b[i-1]) || afterEscape(b[max(0, i-6):i]) ||
		ColourBefore(b[max(0, i-16):i]) >= 0
}

// afterEscape reports whether b ends in an escape such as \n, \xHH, \uHHHH or %HH.
func afterEscape(b []byte) bool {
	n := len(b)
	switch {
	case n >= 2 && b[n-2] == '\\' && bytes.IndexByte([]byte("nrtbfv"), b[n-1]) >= 0:
		return true
	case n >= 3 && b[n-3] == '%' && IsHex(b[n-2]) && IsHex(b[n-1]):
		return true
	case n >= 4 && b[n-4] == '\\' && b[n-3] == 'x' && IsHex(b[n-2]) && IsHex(b[n-1]):
		return true
	}
	return n >= 6 && b[n-6] == '\\' && b[n-5] == 'u' &&
		IsHex(b[n-4]) && IsHex(b[n-3]) && IsHex(b[n-2]) && IsHex(b[n-1])
}

// ColourBefore returns the start of the terminal colour sequence at the end of b, or -1. The
// sequence is without its ESC, which cleaning removes: [, digits and semicolons, m.
func ColourBefore(b []byte) int {
	i := bytes.LastIndexByte(b, '[')
	if i >= 0 && Colour(b[i:]) == len(b)-i {
		return i
	}
	return -1
}

// Colour returns the length of the colour sequence (without its ESC) at the start of b, or 0.
func Colour(b []byte) int {
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	i := RunEnd(b, 1, func(c byte) bool { return IsDigit(c) || c == ';' })
	if i < len(b) && b[i] == 'm' {
		return i + 1
	}
	return 0
}

// Unescape returns the byte that the escape of a backslash and c represents.
func Unescape(c byte) byte {
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

// IsUUID reports whether v has the form of a UUID, in letters of either case.
func IsUUID(v []byte) bool {
	if len(v) != 36 || !Only(v, func(c byte) bool { return IsHex(c) || c == '-' }) {
		return false
	}
	return v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-'
}
