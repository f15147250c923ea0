package secrets

import (
	"bytes"
	"encoding/base64"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// jwtAt finds JSON web tokens: a base64url header that starts with {" and two to four more parts
// after dots. A part may be empty, as in an unsigned token or a directly encrypted one.
func (s *scan) jwtAt(start, _ int) {
	if !chars.StartsToken(s.b, start) {
		return
	}
	end, parts := jwtEnd(s.b, start)
	s.past[jwtRule] = end
	if parts >= 3 && end-start >= 30 {
		s.add(start, end, "jwt")
	}
}

// jwtEnd reads dotted base64url parts from start. A header shorter than the shortest possible one
// counts as no token.
func jwtEnd(b []byte, start int) (end, parts int) {
	end = chars.RunEnd(b, start, chars.IsURLSafe)
	if end-start < 12 {
		return end, 1
	}
	for parts = 1; parts < 5 && end < len(b) && b[end] == '.'; parts++ {
		end = chars.RunEnd(b, end+1, chars.IsURLSafe)
	}
	return end, parts
}

// encodedJWTAt finds a JSON web token in base64, as in a Kubernetes Secret.
func (s *scan) encodedJWTAt(start, _ int) {
	b := s.b
	end := chars.RunEnd(b, start, chars.IsBase64)
	s.past[encodedJWTRule] = end
	if end-start < 40 || !chars.StartsToken(b, start) {
		return
	}
	body := bytes.TrimRight(b[start:end], "=")
	plain := make([]byte, len(body))
	n, err := base64.RawStdEncoding.Decode(plain, body[:len(body)&^3])
	if err != nil {
		return
	}
	plain = plain[:n]
	if head, parts := jwtEnd(plain, 0); parts >= 2 && head >= 12 {
		s.add(start, end, "jwt")
	}
}
