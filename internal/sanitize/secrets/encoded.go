package secrets

import (
	"bytes"
	"encoding/base64"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// encodedAt finds a text in base64, at b[i], that has a secret in it: a private key, the JSON of a
// service account, the credentials of Docker. The whole text is the secret, in several lines if it
// was broken.
func (s *scan) encodedAt(i, _ int) {
	b := s.b
	if !chars.StartsToken(b, i) {
		return
	}
	end := chars.RunEnd(b, i, chars.IsBase64)
	s.past[encodedRule] = end
	if end-i < minEncoded {
		return
	}
	if more := base64Lines(b, i); more > end {
		end = more
		s.past[encodedRule] = end
	}
	if class := encodedClass(b[i:end]); class != "" {
		s.add(i, end, class)
	}
}

// minEncoded is the length of the shortest such text.
const minEncoded = 48

// encodedClass returns the class of the first secret in a text in base64, or "". Of a long text
// only the beginning is read. What is encoded twice begins with a text in base64, too.
func encodedClass(text []byte) string {
	text = bytes.Map(func(r rune) rune {
		if r >= 0x80 || !chars.IsBase64(byte(r)) || r == '=' {
			return -1
		}
		return r
	}, text[:min(len(text), 8<<10)])
	plain := make([]byte, len(text))
	n, err := base64.RawStdEncoding.Decode(plain, text[:len(text)&^3])
	if err != nil {
		return ""
	}
	plain = plain[:n]
	if bytes.Contains(plain[:min(n, 256)], []byte("PRIVATE KEY")) {
		return "pem"
	}
	if found, _ := rules(plain); len(found) > 0 {
		return found[0].Class
	}
	return ""
}
