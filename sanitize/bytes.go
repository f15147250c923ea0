package sanitize

import "bytes"

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isLower(c) || isUpper(c) }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// isWord is the alphabet of identifiers.
func isWord(c byte) bool { return isAlnum(c) || c == '_' }

// isURLSafe is the alphabet of base64url.
func isURLSafe(c byte) bool { return isWord(c) || c == '-' }

// isDotted is the alphabet of base64url with dots between the parts.
func isDotted(c byte) bool { return isURLSafe(c) || c == '.' }

// isBase64 is the alphabet of standard base64 with padding.
func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// isUpperNum is the alphabet of base32 and bech32 keys.
func isUpperNum(c byte) bool { return isUpper(c) || isDigit(c) }

// runEnd returns the offset of the first byte at or after i that is not in the alphabet.
func runEnd(b []byte, i int, in func(byte) bool) int {
	for i < len(b) && in(b[i]) {
		i++
	}
	return i
}

// indexFrom is bytes.Index from an offset. It returns an offset into b, or -1.
func indexFrom(b []byte, from int, sub string) int {
	if from > len(b) {
		return -1
	}
	i := bytes.Index(b[from:], []byte(sub))
	if i < 0 {
		return -1
	}
	return from + i
}

// startsToken reports whether a token may begin at b[i]: the byte before is no letter or digit, or
// it is the end of an escape for another character. Escapes matter because text is often quoted
// inside other text: \n and %3D end in a letter or digit, and so does a colour sequence without its
// ESC.
func startsToken(b []byte, i int) bool {
	if i == 0 || !isAlnum(b[i-1]) {
		return true
	}
	return afterEscape(b[max(0, i-6):i]) || afterColour(b[max(0, i-16):i])
}

// afterEscape reports whether b ends in an escape such as \n, \xHH, \uHHHH or %HH.
func afterEscape(b []byte) bool {
	n := len(b)
	switch {
	case n >= 2 && b[n-2] == '\\' && bytes.IndexByte([]byte("nrtbfv"), b[n-1]) >= 0:
		return true
	case n >= 3 && b[n-3] == '%' && isHex(b[n-2]) && isHex(b[n-1]):
		return true
	case n >= 4 && b[n-4] == '\\' && b[n-3] == 'x' && isHex(b[n-2]) && isHex(b[n-1]):
		return true
	}
	return n >= 6 && b[n-6] == '\\' && b[n-5] == 'u' &&
		isHex(b[n-4]) && isHex(b[n-3]) && isHex(b[n-2]) && isHex(b[n-1])
}

// afterColour reports whether b ends in a terminal colour sequence without its ESC: [, digits and
// semicolons, m.
func afterColour(b []byte) bool { return colourBefore(b) >= 0 }

// colourBefore returns the start of the colour sequence at the end of b, or -1.
func colourBefore(b []byte) int {
	i := bytes.LastIndexByte(b, '[')
	if i >= 0 && colour(b[i:]) == len(b)-i {
		return i
	}
	return -1
}

// colour returns the length of the colour sequence (without its ESC) at the start of b, or 0.
func colour(b []byte) int {
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	i := runEnd(b, 1, func(c byte) bool { return isDigit(c) || c == ';' })
	if i < len(b) && b[i] == 'm' {
		return i + 1
	}
	return 0
}
