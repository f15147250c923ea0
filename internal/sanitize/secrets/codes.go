package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// maxCodes is how many bytes behind its name a list of codes is looked for.
const maxCodes = 1 << 10

// codesAt reads what gives an account back, or makes the codes of a second factor, behind what
// names it: 1234-5678 and the like, one or more, on the same line or below; or a key in groups of
// four letters, as an authenticator shows it. The list ends before the first word that is none.
func (s *scan) codesAt(_, at int) {
	b := s.b[:min(len(s.b), at+maxCodes)]
	key, groups := at, 0 // of four letters
	for n, last := 0, at; ; n++ {
		at = chars.RunEnd(b, at, func(c byte) bool { return !chars.IsAlnum(c) })
		end := chars.RunEnd(b, at, func(c byte) bool { return chars.IsAlnum(c) || c == '-' })
		word := b[at:end]
		switch {
		case len(word) == 4 && chars.Only(word, isBase32):
			if groups++; groups == 1 {
				key = at
			}
			last = end
		case isBackupCode(word), len(word) >= 16 && chars.Only(word, isBase32) &&
			bytes.ContainsAny(word, "234567") && bytes.Equal(word, bytes.ToUpper(word)):
			s.add(at, end, weakKey.Class())
		case len(word) == 0, groups > 0, n > 2 && !chars.Only(word, chars.IsDigit),
			n <= 2 && !isBetween(word):
			// Without a digit they are words
			if groups >= 4 && bytes.ContainsAny(b[key:last], "234567") {
				s.add(key, last, weakKey.Class())
			}
			return
		}
		at = end
	}
}

// isBetween reports whether a word, or the rest of one, may stand between the name of codes and
// the codes: codes, key, is, 1.
func isBetween(word []byte) bool {
	for _, w := range [...]string{"s", "key", "secret", "seed", "is", "are", "code", "codes"} {
		if bytes.EqualFold(word, []byte(w)) {
			return true
		}
	}
	return len(word) <= 2 && chars.Only(word, chars.IsDigit)
}

// isBase32 reports whether c is a letter or digit of base 32, as authenticators write it.
func isBase32(c byte) bool { return c >= '2' && c <= '7' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// isBackupCode reports whether a word is a code to be used once: groups of one length, or 8 to 16
// characters, with a digit.
func isBackupCode(word []byte) bool {
	first, _, grouped := bytes.Cut(word, []byte("-"))
	if !bytes.ContainsAny(word, "0123456789") || len(word) > 32 ||
		!grouped && (len(word) < 8 || len(word) > 16) || len(first) < 4 {
		return false
	}
	for group := range bytes.SplitSeq(word, []byte("-")) {
		if len(group) != len(first) {
			return false
		}
	}
	return true
}
