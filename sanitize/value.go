package sanitize

import (
	"bytes"
	"strings"
)

// literalSecret decides whether a quoted literal, or a JSON string, under a key of this kind is a
// secret.
func literalSecret(kind keyKind, v []byte) bool {
	switch kind {
	case authKey:
		return userAndPassword(v)
	case headerKey:
		if scheme, credential, ok := bytes.Cut(v, []byte(" ")); ok {
			return isCredentialOf(string(scheme), credential, true)
		}
	}
	if standIn(v) || bytes.ContainsAny(v, " \t\r\n") {
		return false
	}
	m := measure(v)
	if kind == plainKey {
		return drawnKey(v, m)
	}
	if kind == strongKey {
		return len(v) >= 5 && (m.mixed() || m.digits >= 6 || m.symbols > 0 && m.letters > 0 && len(v) >= 8 || m.random())
	}
	if m.digits == len(v) {
		return len(v) >= 16 && !stencil(v)
	}
	if len(v) < 8 || m.number() || stencil(v) || pathOfWords(v) || wordsAndNumbers(v) || keyOf(v) != noKey && compound(v, m) {
		return false
	}
	return m.letters > 0 && (m.switches >= 3 || m.digits >= 3) || m.random()
}

// bareSecret decides whether an unquoted run is a secret. It may also be code.
func bareSecret(kind keyKind, v []byte) bool {
	if kind == authKey {
		return userAndPassword(v)
	}
	if standIn(v) || code(v) {
		return false
	}
	m := measure(v)
	if kind == plainKey {
		return drawnKey(v, m)
	}
	if kind == strongKey {
		return len(v) >= 6 && !knownWord(v) && !compound(v, m) &&
			(m.mixed() || m.symbols > 0 && m.letters > 0 && len(v) >= 8 || m.digits == len(v) || m.random())
	}
	if m.digits == len(v) {
		return len(v) >= 16 && !stencil(v)
	}
	if len(v) < 8 || m.number() || stencil(v) || pathOfWords(v) || wordsAndNumbers(v) || compound(v, m) {
		return false
	}
	return m.letters > 0 && (m.switches >= 3 || m.digits >= 4) || m.random()
}

// shapeOf counts the characters of a value.
type shapeOf struct {
	length   int
	letters  int // ASCII letters
	digits   int
	symbols  int // punctuation that words, numbers and paths do not have
	switches int // places where a letter and a digit meet
	turns    int // places where a lower-case and an upper-case letter meet
	oneCase  int // longest run of letters in one case
	pairs    int // neighbouring letters, except a capital after a lower-case letter
	rare     int // pairs that are rare in words
}

func measure(v []byte) shapeOf {
	m := shapeOf{length: len(v)}
	run := 0
	for i, c := range v {
		switch {
		case isLetter(c):
			m.letters++
		case isDigit(c):
			m.digits++
		case bytes.IndexByte([]byte("!@#^~$%&*"), c) >= 0:
			m.symbols++
		}
		if i == 0 {
			run = 1
			continue
		}
		p := v[i-1]
		if isLetter(p) && isDigit(c) || isDigit(p) && isLetter(c) {
			m.switches++
		}
		if isLower(p) && isUpper(c) || isUpper(p) && isLower(c) {
			m.turns++
		}
		if isLetter(p) && isLetter(c) && !(isLower(p) && isUpper(c)) {
			m.pairs++
			if isRarePair(p, c) {
				m.rare++
			}
		}
		if isLower(p) && isLower(c) || isUpper(p) && isUpper(c) {
			run++
		} else {
			run = 1
		}
		if isLetter(c) {
			m.oneCase = max(m.oneCase, run)
		}
	}
	return m
}

// mixed reports whether the value has letters and digits.
func (m shapeOf) mixed() bool { return m.letters > 0 && m.digits > 0 }

// random reports whether the value looks random although it has few digits or none: its case
// changes far more often than in camel case, it is long and changes as often as base64 does, it is
// longer than any word, or its letters are unlike those of words.
func (m shapeOf) random() bool {
	switch {
	case m.length >= 16 && m.turns*5 >= m.letters*2 && m.letters*4 >= m.length*3:
		return true
	case m.length >= 30 && m.mixed() && m.turns+m.switches >= 10:
		return true
	}
	return m.oneCase >= 24 || m.length >= 10 && m.unlikeWords()
}

// number reports whether the value is a number, a version, a date or an amount with a unit.
func (m shapeOf) number() bool { return m.digits > 0 && m.letters <= 2 }

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
		return len(v) < 32 || runEnd([]byte(v), 0, isBase64) != len(v) || !measure([]byte(v)).random() // base64 also contains slashes
	case '%':
		if len(v) > 2 && v[len(v)-1] == '%' {
			return true
		}
	}
	for _, p := range [...]string{"./", "../", "~/", "env:", "file:", "arn:", "vault:", "process.env", "os.", `\n`, `\u`, `\x`} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	if len(v) > 2 && v[1] == ':' && (v[2] == '\\' || v[2] == '/') && isLetter(v[0]) {
		return true
	}
	for _, p := range [...]string{"${", "$(", "{{", "#{", "<%", "://", "%s", "%v", "%q", "%w", "%+", "%["} {
		if strings.Contains(v, p) {
			return true
		}
	}
	return isFileName(v) || braced(v)
}

// braced reports whether v contains a format field: {name}.
func braced(v string) bool {
	i := strings.IndexByte(v, '{')
	j := strings.IndexByte(v, '}')
	return i >= 0 && j > i && strings.IndexFunc(v[i+1:j], func(r rune) bool { return r >= 0x80 || !isDotted(byte(r)) }) < 0
}

// isFileName reports whether v ends in an extension of files that hold keys and settings.
func isFileName(v string) bool {
	i := strings.LastIndexByte(v, '.')
	if i < 1 {
		return false
	}
	switch v[i+1:] {
	case "json", "yaml", "yml", "toml", "pem", "key", "crt", "txt", "env", "go", "js", "ts", "tsx", "py", "rs", "md", "html", "sh":
		return true
	}
	return false
}

// placeholder reports whether v, given also in lower case, asks the reader to insert a secret. A
// word counts only among words, because long random secrets contain short words.
func placeholder(lower string, v []byte) bool {
	for _, p := range [...]string{"changeme", "change_me", "change-me", "xxxx", "****", "....", "####", "redacted", "<"} {
		if strings.Contains(lower, p) {
			return true
		}
	}
	for _, p := range [...]string{"your", "example", "placeholder", "dummy", "replace", "insert", "todo"} {
		if strings.Contains(lower, p) {
			return !measure(v).unlikeWords()
		}
	}
	return false
}

// knownWord reports whether v is the name of an algorithm or a type that contains a digit and often
// follows a colon or an equals sign.
func knownWord(v []byte) bool {
	switch strings.ToLower(string(v)) {
	case "sha256", "sha384", "sha512", "sha-256", "sha-512", "sha3-256", "base32", "base64", "argon2", "argon2i",
		"argon2d", "argon2id", "pbkdf2", "bcrypt2", "scrypt2", "oauth2", "string1", "string2", "utf-16", "uint16",
		"uint32", "uint64", "float32", "float64", "x25519", "ed25519", "aes128", "aes256", "2fa-totp":
		return true
	}
	return false
}

// code reports whether an unquoted v is an expression rather than a value.
func code(v []byte) bool {
	s := string(v)
	if strings.IndexByte("([#&|.,:;", s[0]) >= 0 {
		return true
	}
	if strings.IndexByte("*!@%+~?-", s[0]) >= 0 && runEnd(v, 1, isDotted) == len(v) && measure(v).digits <= 1 {
		return true
	}
	if strings.Contains(strings.TrimRight(s, "="), "==") { // at the end it is padding
		return true
	}
	for _, p := range [...]string{"::", "()", "&&", "||", "=>", "->", ":=", "(\"", "..."} {
		if strings.Contains(s, p) {
			return true
		}
	}
	name := runEnd(v, 0, func(c byte) bool { return isWord(c) || c == '.' || c == '!' })
	return name > 0 && name < len(v) && strings.IndexByte("([{", v[name]) >= 0
}

// compound reports whether v reads like a name in a program: parts joined by dots, underscores or
// camel case, or a word that is itself a key, with few digits that stand together. A single word
// with a digit is no compound, because short passwords look like that. Neither is a run whose case
// changes more often than in camel case.
func compound(v []byte, m shapeOf) bool {
	if runEnd(v, 0, func(c byte) bool { return isWord(c) || c == '.' }) != len(v) || isDigit(v[0]) || m.unlikeWords() {
		return false
	}
	joined := bytes.ContainsAny(v, "._") || camel(v)
	named := keyOf(v) != noKey
	switches, digits := 2, 4
	switch {
	case named && joined:
		switches, digits = 4, 10 // ed25519.Ed25519PrivateKey
	case bytes.Count(v, []byte("_")) >= 2:
		digits = 6 // a constant of a numbered protocol
	}
	if m.switches > switches || m.digits > digits || m.turns*5 > m.letters*2 {
		return false
	}
	return joined || named && m.digits <= 2 && m.switches <= 1
}

// camel reports whether a part of v ends where a capital begins the next part.
func camel(v []byte) bool {
	for i := 2; i < len(v); i++ {
		if !isUpper(v[i-2]) && isUpper(v[i-1]) && isLower(v[i]) || isLower(v[i-1]) && isUpper(v[i]) {
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
		m := measure(part)
		if m.switches > 1 || m.digits > 4 || m.turns > 1 || m.random() {
			return false
		}
	}
	return true
}

// drawnKey reports whether v is surely random: at least 32 hexadecimal digits, or at least 20
// characters in which letters and digits alternate often.
func drawnKey(v []byte, m shapeOf) bool {
	if runEnd(v, 0, func(c byte) bool { return isBase64(c) || isURLSafe(c) }) != len(v) || stencil(v) || m.digits == len(v) {
		return false
	}
	if runEnd(v, 0, isHex) == len(v) {
		return len(v) >= 32 && m.mixed()
	}
	joints := bytes.Count(v, []byte("-")) + bytes.Count(v, []byte("_"))
	return len(v) >= 20 && m.digits >= 3 && m.switches >= 3 && (m.turns+m.switches)*3 >= len(v) && joints <= 2
}

// wordsAndNumbers reports whether v consists of words, numbers and versions with punctuation
// between them, such as the name of a package with its version or of a type in a namespace:
// jackson-core-2.11.2, ns:TypeName, gpt-4o-2024-05-13.
func wordsAndNumbers(v []byte) bool {
	parts, longest := 0, 0
	for at := 0; at < len(v); {
		end := runEnd(v, at, isAlnum)
		if end == at {
			if bytes.IndexByte([]byte("-._:/@"), v[at]) < 0 {
				return false
			}
			at++
			continue
		}
		m := measure(v[at:end])
		if !isWordOrNumber(v[at:end], m) {
			return false
		}
		if m.digits == 0 {
			longest = max(longest, m.letters)
		}
		parts, at = parts+1, end
	}
	return parts >= 2 && longest >= 4
}

// isWordOrNumber reports whether a part is a word, a short number, a date, or a word with a number
// such as clm14066 or v2.
func isWordOrNumber(part []byte, m shapeOf) bool {
	switch {
	case m.switches > 1, m.letters >= 4 && m.unlikeWords(), m.random():
		return false
	case m.letters == 0:
		return m.digits <= 4 || isDate(part)
	case m.digits == 0:
		return true
	case m.letters == 3 || m.letters == 4:
		return m.digits <= 5
	}
	return m.letters <= 12 && m.digits <= 3
}

// isDate reports whether digits are a date such as 20260304.
func isDate(digits []byte) bool {
	if len(digits) != 8 {
		return false
	}
	century := string(digits[:2])
	return (century == "19" || century == "20") && digits[4] <= '1' && digits[6] <= '3'
}
