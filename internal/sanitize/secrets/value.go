package secrets

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// standIn reports whether v stands for a secret instead of being one: it is empty, a mask, a
// placeholder, a variable, a template, a path or an address.
func standIn(v []byte) bool {
	return masked(v) || referring(string(v)) || placeholder(strings.ToLower(string(v)), v)
}

// masked reports whether v is empty or one repeated character.
func masked(v []byte) bool {
	return len(v) == 0 || bytes.Count(v, v[:1]) == len(v)
}

// referring reports whether v names the place of a secret.
func referring(v string) bool {
	switch v[0] {
	case '<', '{', '$':
		return true
	case '/':
		// base64 also contains slashes
		return len(v) < 32 || !chars.Only([]byte(v), chars.IsBase64) ||
			!chars.Measure([]byte(v)).Random()
	case '%', '@': // of Windows, of Maven
		if len(v) > 2 && v[len(v)-1] == v[0] {
			return true
		}
	}
	if begins(v, "./", "../", "~/", "env:", "file:", "arn:", "vault:", "process.env", "os.", `\n`,
		`\u`, `\x`) ||
		len(v) > 2 && v[1] == ':' && (v[2] == '\\' || v[2] == '/') && chars.IsLetter(v[0]) ||
		has(v, "${", "$(", "{{", "#{", "<%", "://", "%s", "%v", "%q", "%w", "%+", "%[") {
		return true
	}
	stem := []byte(v[:max(0, strings.LastIndexByte(v, '.'))])
	return isFileName(v) && !isDrawn(stem, chars.Measure(stem)) || braced(v)
}

// braced reports whether v contains a format field: {name}.
func braced(v string) bool {
	i := strings.IndexByte(v, '{')
	j := strings.IndexByte(v, '}')
	return i >= 0 && j > i &&
		strings.IndexFunc(v[i+1:j],
			func(r rune) bool { return r >= 0x80 || !chars.IsDotted(byte(r)) }) < 0
}

// isFileName reports whether v ends in an extension of files that hold keys and settings.
func isFileName(v string) bool {
	i := strings.LastIndexByte(v, '.')
	return i > 0 && isListed("extension", v[i+1:])
}

// placeholder reports whether v, given also in lower case, asks the reader to insert a secret. A
// word counts only among words, because long random secrets contain short words.
func placeholder(lower string, v []byte) bool {
	return has(lower, "changeme", "change_me", "change-me", "xxxx", "****", "....", "####", "redacted",
		"<") || has(lower, "your", "example", "placeholder", "dummy", "replace", "insert", "todo") &&
		!chars.Measure(v).UnlikeWords()
}

// has reports whether a text has one of some others in it, and begins whether it begins with one.
func has(s string, list ...string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.Contains(s, p) })
}

func begins(s string, list ...string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(s, p) })
}

// code reports whether an unquoted v is an expression rather than a value.
func code(v []byte) bool {
	s := string(v)
	if strings.IndexByte("([#&|.,:;", s[0]) >= 0 ||
		begins(s, "this.", "self.", "options.", "null,", "!!", "!/") {
		return true
	}
	if strings.IndexByte("*!@%+~?-", s[0]) >= 0 && chars.RunEnd(v, 1, chars.IsDotted) == len(v) &&
		(s[0] == '*' || chars.Measure(v).Digits <= 1) {
		return true
	}
	if s[0] == '*' && len(s) > 1 && (s[1] == '_' || chars.IsLetter(s[1]) || s[1] == ')') &&
		strings.ContainsAny(s, "()") {
		return true // of a pointer
	}
	if number, ok := strings.CutPrefix(s, "0x"); ok && len(number) <= 16 &&
		chars.Only([]byte(number), chars.IsHex) {
		return true
	}
	if strings.Contains(strings.TrimRight(s, "="), "==") || // at the end it is padding
		has(s, "})", "),", "::", "()", "&&", "||", "=>", "->", ":=", "(\"", "...") {
		return true
	}
	name := chars.RunEnd(v, 0, func(c byte) bool {
		return chars.IsWord(c) || c == '.' || c == '!' || c == '$'
	})
	return name > 0 && name < len(v) && strings.IndexByte("([{", v[name]) >= 0
}

// compound reports whether v reads like a name in a program: parts joined by dots, underscores or
// camel case, or a word that is itself a key, with few digits that stand together. A single word
// with a digit is no compound, because short passwords look like that. Neither is a run whose case
// changes more often than in camel case.
func compound(v []byte, m chars.Counts) bool {
	if !chars.Only(v, func(c byte) bool { return chars.IsWord(c) || c == '.' }) ||
		chars.IsDigit(v[0]) || m.UnlikeWords() || m.Scrambled() {
		return false
	}
	if camelWords(v) {
		return true
	}
	joined := bytes.ContainsAny(v, "._") || camel(v)
	named := KeyOf(v) != NoKey
	switches, digits := 2, 4
	switch {
	case named && joined:
		switches, digits = 4, 10 // ed25519.Ed25519PrivateKey
	case bytes.Count(v, []byte("_")) >= 2:
		digits = 6 // a constant of a numbered protocol
	}
	if m.Switches > switches || m.Digits > digits || m.Turns*5 > m.Letters*2 {
		return false
	}
	return joined || named && m.Digits <= 2 && m.Switches <= 1
}

// camelWords reports whether v consists of two capitalized words or more, and of numbers, like
// StringWithLengthBetween1And2048. Up to two letters may stand alone, as in ResponseV2Meta. What is
// drawn by lot has no such words.
func camelWords(v []byte) bool {
	words, alone := 0, 0
	for at := 0; at < len(v); {
		end := chars.RunEnd(v, at, func(c byte) bool { return chars.IsDigit(c) || c == '_' })
		if end > at {
			at = end
			continue
		}
		lower := at
		if chars.IsUpper(v[at]) {
			lower++
		}
		end = chars.RunEnd(v, lower, chars.IsLower)
		switch {
		case end == at:
			return false
		case end == lower:
			alone++
		case end-lower < 2 && lower == at:
			return false
		case lower > at && end-lower >= 2:
			words++
		}
		at = end
	}
	return words >= 2 && alone <= 2
}

// camel reports whether a part of v ends where a capital begins the next part.
func camel(v []byte) bool {
	for i := 2; i < len(v); i++ {
		if !chars.IsUpper(v[i-2]) && chars.IsUpper(v[i-1]) && chars.IsLower(v[i]) ||
			chars.IsLower(v[i-1]) && chars.IsUpper(v[i]) {
			return true
		}
	}
	return false
}

// pathOfWords reports whether v consists of words with slashes between them, each with at most a
// capital at its start and digits at its end.
func pathOfWords(v []byte) bool {
	if bytes.IndexByte(v, '/') < 0 || bytes.ContainsAny(v, "+=") {
		return false
	}
	for part := range bytes.SplitSeq(v, []byte("/")) {
		m := chars.Measure(part)
		if m.Switches > 1 || m.Digits > 4 || m.Turns > 1 || m.Random() {
			return false
		}
	}
	return true
}

// isFingerprint reports whether v is the fingerprint of a key, as OpenPGP prints it. Secrets are
// seldom in capitals.
func isFingerprint(v []byte) bool {
	v = bytes.TrimPrefix(v, []byte("0x"))
	upper := func(c byte) bool { return chars.IsHex(c) && !chars.IsLower(c) }
	return len(v) == 40 && chars.Only(v, upper)
}

// wordsAndNumbers reports whether v consists of words, numbers and versions with punctuation
// between them, such as the name of a package with its version or of a type in a namespace:
// jackson-core-2.11.2, ns:TypeName, gpt-4o-2024-05-13.
func wordsAndNumbers(v []byte) bool {
	parts, longest := 0, 0
	for at := 0; at < len(v); {
		end := chars.RunEnd(v, at, chars.IsAlnum)
		if end == at {
			if bytes.IndexByte([]byte("-._:/@"), v[at]) < 0 {
				return false
			}
			at++
			continue
		}
		m := chars.Measure(v[at:end])
		if !isWordOrNumber(v[at:end], m) {
			return false
		}
		if m.Digits == 0 {
			longest = max(longest, m.Letters)
		}
		parts, at = parts+1, end
	}
	return parts >= 2 && longest >= 4
}

// isWordOrNumber reports whether a part is a word, a short number, a date, or a word with a number
// such as clm14066 or v2.
func isWordOrNumber(part []byte, m chars.Counts) bool {
	switch {
	case m.Switches > 1, m.Letters >= 4 && m.UnlikeWords(), m.Random():
		return false
	case m.Letters == 0:
		return m.Digits <= 4 || isDate(part)
	case m.Digits == 0:
		return true
	case m.Letters == 3 || m.Letters == 4:
		return m.Digits <= 5
	}
	return m.Letters <= 12 && m.Digits <= 3
}

// isDate reports whether digits are a date such as 20260304.
func isDate(digits []byte) bool {
	if len(digits) != 8 {
		return false
	}
	century := string(digits[:2])
	return (century == "19" || century == "20") && digits[4] <= '1' && digits[6] <= '3'
}
