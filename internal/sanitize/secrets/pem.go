package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// minPEMRun is the shortest run of base64 that makes a block a key rather than prose or code that
// mentions the header line. The shortest private key in use, an Ed25519 key, has a line of 64.
const minPEMRun = 32

// pemAt finds a private key in PEM or PGP armour whose BEGIN is at b[i]: the whole block including
// both marker lines. A block without an end goes as far as its base64 lines. Certificates and
// public keys stay.
func (s *scan) pemAt(i, _ int) {
	start := i - len("-----")
	if start < 0 || string(s.b[start:i]) != "-----" {
		return
	}
	body, ok := pemHeader(s.b, start)
	s.past[pemRule] = body
	if !ok {
		return
	}
	if end := pemEnd(s.b, body); end > body {
		s.add(start, end, "pem")
		s.past[pemRule] = end
	}
}

// pemHeader reads the BEGIN line at start. It returns the start of the body, and whether the block
// is a private key.
func pemHeader(b []byte, start int) (body int, ok bool) {
	label := start + len("-----BEGIN ")
	end := chars.RunEnd(b, label, func(c byte) bool { return chars.IsUpperNum(c) || c == ' ' })
	if !bytes.HasPrefix(b[end:], []byte("-----")) {
		return end, false
	}
	return end + len("-----"), bytes.Contains(b[label:end], []byte("PRIVATE KEY"))
}

// pemEnd returns the end of the block, or body if what follows is no key.
func pemEnd(b []byte, body int) int {
	dashes := chars.IndexFrom(b, body, "-----")
	for dashes >= 0 && bytes.HasPrefix(b[dashes:], []byte("------")) { // after the sign of a diff
		dashes++
	}
	if dashes < 0 || !bytes.HasPrefix(b[dashes:], []byte("-----END ")) {
		return base64Lines(b, body)
	}
	if !hasRun(b[body:dashes]) {
		return body
	}
	end := chars.RunEnd(b, dashes+len("-----"), func(c byte) bool {
		return chars.IsUpperNum(c) || c == ' '
	})
	return chars.RunEnd(b, end, func(c byte) bool { return c == '-' })
}

// bodyAt finds the lines of a private key without its armour, with the beginning that its kind has
// in base64 at b[i].
func (s *scan) bodyAt(i, _ int) {
	if !chars.StartsToken(s.b, i) {
		return
	}
	if end := base64Lines(s.b, i); end-i >= 2*minPEMRun {
		s.add(i, end, "pem")
		s.past[bodyRule] = end
	}
}

// hasRun reports whether b has so many base64 bytes in a row as a key has.
func hasRun(b []byte) bool {
	for at := 0; at < len(b); at++ {
		start := at
		if at = chars.RunEnd(b, at, chars.IsBase64); at-start >= minPEMRun {
			return true
		}
	}
	return false
}

// base64Lines returns the end of the base64 lines from body on. Line ends may be written as
// escapes, and lines may be quoted and joined as in source code.
func base64Lines(b []byte, body int) int {
	end := body
	for {
		at := lineStart(b, end)
		next := chars.RunEnd(b, at, chars.IsBase64)
		cutOff := end > body && next == len(b) && next-at >= 4
		if next-at < minPEMRun && !cutOff {
			return end
		}
		end = next
	}
}

// lineStart returns the offset after what may stand between two lines of a block: white space,
// plain or escaped, quotes, and a plus or comma between literals.
func lineStart(b []byte, i int) int {
	for i < len(b) {
		switch c := b[i]; {
		case chars.IsSpace(c) || chars.IsQuote(c) || c == ',':
			i++
		case (c == '-' || c == '>' || c == '|') && i > 0 && b[i-1] == '\n': // a diff or a quotation
			i++
		case c == '+' && i+1 < len(b) && !chars.IsBase64(b[i+1]):
			i++
		case c == '\\' && i+1 < len(b):
			i += 2
		default:
			return i
		}
	}
	return len(b)
}
