package secrets

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// headerAt finds the credential after the name of an HTTP authentication scheme at b[i]: Bearer and
// Basic anywhere, Token only near the name of the header. Only the credential is replaced.
func (s *scan) headerAt(i, at int) {
	b := s.b
	start := chars.RunEnd(b, at, func(c byte) bool { return c == ' ' })
	if start == at || !chars.StartsToken(b, i) {
		return
	}
	end := chars.RunEnd(b, start, chars.IsCredential)
	end = start + len(bytes.TrimRight(b[start:end], "."))
	if isCredentialOf(string(b[i:at]), b[start:end], afterName(b, i)) {
		s.add(start, end, "authorization")
	}
}

// afterName reports whether the header's name stands just before b[i].
func afterName(b []byte, i int) bool {
	before := bytes.ToLower(b[max(0, i-24):i])
	return bytes.Contains(before, []byte("authorization"))
}

// isCredentialOf decides whether v is a credential. Next to the header's name a short value is
// enough; elsewhere "bearer" and "basic" are common words.
func isCredentialOf(scheme string, v []byte, named bool) bool {
	switch strings.ToLower(scheme) {
	case "basic":
		return userAndPassword(v)
	case "bearer":
		if named {
			return len(v) >= 8 && !standIn(v) && chars.Measure(v).Mixed()
		}
		return len(v) >= 16 && inQuotes.takes(v, weakKey)
	}
	return named && inQuotes.takes(v, weakKey)
}

// userAndPassword reports whether v is basic credentials: base64 of printable UTF-8 text with a
// colon.
func userAndPassword(v []byte) bool {
	if len(v) < 8 || len(v) > 1024 {
		return false
	}
	plain, err := base64.RawStdEncoding.DecodeString(string(bytes.TrimRight(v, "=")))
	if err != nil || bytes.IndexByte(plain, ':') < 0 || !utf8.Valid(plain) {
		return false
	}
	return chars.Only(plain, func(c byte) bool { return c >= ' ' && c != 0x7f })
}
