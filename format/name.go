package format

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// EncodeName percent-encodes a name for a header: every byte outside [A-Za-z0-9._@:+/-] becomes %XX
// with upper-case digits. It refuses an empty name, a name that is not UTF-8, and a name that takes
// more than MaxName bytes when encoded.
func EncodeName(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("empty name")
	}
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("name is not UTF-8: %.80q", s)
	}
	if len(s) <= MaxName && isPlainRef(s) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; isNameByte(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > MaxName {
		return "",
			fmt.Errorf("name takes %d bytes encoded, %d is the most: %.80q", b.Len(), MaxName, s)
	}
	return b.String(), nil
}

// DecodeName reads the output of EncodeName and refuses everything else, unnecessary escapes
// included.
func DecodeName(s string) (string, error) {
	if len(s) <= MaxName && isPlainRef(s) && s != "" {
		return strings.Clone(s), nil // holds no header in memory
	}
	name, err := url.PathUnescape(s)
	if err != nil {
		return "", fmt.Errorf("bad name: %.80q", s)
	}
	if again, err := EncodeName(name); err != nil || again != s {
		return "", fmt.Errorf("bad name: %.80q", s)
	}
	return name, nil
}

func isNameByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return c == '.' || c == '_' || c == '@' || c == ':' || c == '+' || c == '/' || c == '-'
}
