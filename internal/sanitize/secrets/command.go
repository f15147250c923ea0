package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// flagAt finds the value after the flag at b[i] if the flag names a secret: --password hunter2,
// -token abc. A flag and a value with a separator between them are a pair, see pairAt.
func (s *scan) flagAt(i int) {
	b := s.b
	if i < s.past[flagRule] {
		return
	}
	name := chars.RunEnd(b, i, func(c byte) bool { return c == '-' })
	s.past[flagRule] = name
	if name-i > 2 || i > 0 && !chars.IsSpace(b[i-1]) && !chars.IsQuote(b[i-1]) && b[i-1] != '(' {
		return
	}
	end := chars.RunEnd(b[:min(len(b), name+maxKey)], name, chars.IsURLSafe)
	s.past[flagRule] = max(end, name)
	if end == name || end >= len(b) {
		return
	}
	at := end
	if b[end] != ' ' {
		if at = nextElement(b, i, end); at == 0 {
			return
		}
	}
	kind := KeyOf(b[name:end])
	if kind == NoKey {
		return
	}
	v := valueAfter(&s.runs, at)
	if v.start < len(b) && b[v.start] != '-' && Judge(b[v.start:v.end], v.quoted, kind) {
		s.add(v.start, v.end, kind.Class())
	}
}

// nextElement returns the start of the string after the string b[start:end] in a list such as
// ["--token", "abc"]. It returns 0 if b[start:end] is no whole string or no string follows. The
// quotes may be escaped, as in JSON within JSON, and the strings may stand on separate lines.
func nextElement(b []byte, start, end int) int {
	if start == 0 || !chars.IsQuote(b[start-1]) {
		return 0
	}
	quote := start - 1
	for quote > 0 && b[quote-1] == '\\' {
		quote--
	}
	mark := b[quote:start]
	rest, ok := bytes.CutPrefix(b[end:], mark)
	if !ok {
		return 0
	}
	rest = bytes.TrimLeft(rest[:min(len(rest), maxGap)], " ")
	if rest, ok = bytes.CutPrefix(rest, []byte(",")); !ok {
		return 0
	}
	at := end + bytes.IndexByte(b[end:], ',') + 1
	gap := chars.RunEnd(rest, 0, chars.IsSpace)
	if !bytes.HasPrefix(rest[gap:], mark) {
		return 0
	}
	return at + gap
}

// commandAt finds passwords in the arguments of the program at b[i], which takes them after a short
// flag.
func (s *scan) commandAt(i int, program string, r rule) {
	if !chars.StartsToken(s.b, i) {
		return
	}
	flags := "p"
	switch program {
	case "curl":
		flags = "uU"
	case "smbclient":
		flags = "U"
	case "redis-cli":
		flags = "a"
	case "ldapsearch":
		flags = "w"
	}
	s.arguments(i+len(program), flags, r)
}

// commandEnd returns the end of the command at b[at:]: a bar, a semicolon, or a line feed without a
// backslash before it.
func commandEnd(b []byte, at int) int {
	for end := at; end < min(len(b), at+1024); end++ {
		switch b[end] {
		case '\n', '\r':
			if !endsInBackslash(b[at:end]) {
				return end
			}
		case '|', ';':
			return end
		}
	}
	return min(len(b), at+1024)
}

func endsInBackslash(line []byte) bool {
	line = bytes.TrimRight(line, " \r\n")
	return len(line) > 0 && line[len(line)-1] == '\\'
}

// arguments reads the arguments at b[at:], up to the end of the command. A password follows one of
// the flags: in the same word if r is joinedCommandRule, and after a user name and a colon if r is
// userCommandRule.
func (s *scan) arguments(at int, flags string, r rule) {
	b := s.b
	user, joined := r == userCommandRule, r == joinedCommandRule
	end := commandEnd(b, at)
	line := b[:end]
	for i := at; i+1 < end; i++ {
		if line[i] != ' ' || line[i+1] != '-' {
			continue
		}
		start := argumentStart(line, i+1, flags, joined, user)
		if start == 0 {
			continue
		}
		start = chars.RunEnd(line, start, func(c byte) bool {
			return chars.IsQuote(c) || c == '\\' || c == ' '
		})
		stop := chars.RunEnd(line, start, isArgument)
		name := []byte(nil)
		if user {
			stop = chars.RunEnd(line, start,
				func(c byte) bool { return isArgument(c) || chars.IsQuote(c) })
			colon := bytes.IndexByte(line[start:stop], ':')
			if colon < 0 {
				continue
			}
			name = line[start : start+colon]
			after := chars.RunEnd(line, start+colon+1, chars.IsQuote)
			switch stop = chars.RunEnd(line, after, isArgument); {
			case stop > after:
				start = after
			case len(name) >= 8 && literalSecret(weakKey, unmarked(name)):
				stop, name = start+colon, nil // a token in place of the user
			default:
				continue
			}
		}
		if argumentSecret(unmarked(line[start:stop]), name, user || joined) {
			s.add(start, stop, strongKey.Class())
		}
	}
}

// isArgument is the alphabet of an argument.
func isArgument(c byte) bool { return !chars.IsSpace(c) && !chars.IsQuote(c) && c != '\\' }

// argumentStart returns the start of the value of the flag at line[i], or 0 if it is none of the
// flags.
func argumentStart(line []byte, i int, flags string, joined, user bool) int {
	rest := line[i:]
	for _, long := range [...]string{"--user ", "--user=", "--proxy-user "} {
		if user && bytes.HasPrefix(rest, []byte(long)) {
			return i + len(long)
		}
	}
	switch {
	case len(rest) < 4 || bytes.IndexByte([]byte(flags), rest[1]) < 0:
		return 0
	case rest[2] == ' ' && !joined:
		return i + 3
	case rest[2] != ' ' && (joined || user):
		return i + 2
	}
	return 0
}

// argumentSecret decides whether an argument is a password. If sure, only a password may stand
// there, and everything is one that documents would not use as an example. Otherwise the argument
// must look like a password.
func argumentSecret(v, user []byte, sure bool) bool {
	if len(v) < 4 || standIn(v) || v[0] == '[' || bytes.Equal(v, user) {
		return false
	}
	m := chars.Measure(v)
	if sure {
		return !isStandInWord(v) && (KeyOf(v) == NoKey || m.Mixed())
	}
	return bareSecret(strongKey, v) || m.Mixed() && m.Switches >= 2 && !code(v)
}

// isStandInWord reports whether v is a word that manuals use in place of a password.
func isStandInWord(v []byte) bool {
	switch string(bytes.ToLower(bytes.Trim(v, "<>[]{}"))) {
	case "pass", "password", "passwd", "passwort", "pwd", "secret", "token", "test", "user",
		"username", "apikey", "key", "guest", "admin", "root":
		return true
	}
	return false
}

// vaultAt finds the token of vault login or the key of vault operator unseal at b[at].
func (s *scan) vaultAt(at int) {
	end := chars.RunEnd(s.b, at, isBare)
	if v := unmarked(s.b[at:end]); len(v) >= 16 && v[0] != '-' && bareSecret(weakKey, v) {
		s.add(at, end, "vault")
	}
}

// accountAt reads the account of http -a user:value, and of net use /user:name value, at b[at].
func (s *scan) accountAt(at int) {
	b := s.b
	v := valueAfter(&s.runs, at)
	if b[at-1] == ' ' {
		if bytes.IndexByte(b[v.start:v.end], ':') > 0 {
			s.given(v, true)
		}
		return
	}
	if bytes.Contains(bytes.ToLower(b[max(0, at-2*maxKey):at]), []byte("net use ")) {
		if next := valueAfter(&s.runs, v.end); next.end > next.start && b[next.start] != '/' {
			s.given(next, false)
		}
	}
}

// passAt finds -passin pass:hunter2, an option of openssl, with "pass:" at b[i].
func (s *scan) passAt(i int) {
	b := s.b
	at := i + len("pass:")
	if i == 0 || b[i-1] != ' ' && !chars.IsQuote(b[i-1]) ||
		!bytes.Contains(b[max(0, i-12):i], []byte("-pass")) {
		return
	}
	end := chars.RunEnd(b, at, isBare)
	if v := unmarked(b[at:end]); nonEmptySecret(v) {
		s.add(at, end, strongKey.Class())
	}
}

// nonEmptySecret is bareSecret for a value that may be empty.
func nonEmptySecret(v []byte) bool { return len(v) > 0 && bareSecret(strongKey, v) }
