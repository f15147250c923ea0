package secrets

import (
	"bytes"
	"strings"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file reads values that follow their name without a separator: in commands (setx NAME value),
// in settings (requirepass value), in columns, and in prose (stripe secret value).

// wordAt reads what follows a word that may end the name of a secret. The word ends at end.
func (s *scan) wordAt(i, end int) {
	b := s.b
	if end < len(b) && chars.IsWord(b[end]) {
		return
	}
	switch kind := keyBefore(b, end); {
	case end < len(b) && b[end] == '-':
	case kind == strongKey, kind == weakKey:
		s.nearAt(i, end, kind)
	case end-i == len("pass"):
		s.nearAt(i, end, strongKey)
	}
	if end >= len(b) {
		return
	}
	switch b[end] {
	case ' ', '\t':
		s.headAt(i)
		s.spokenAt(end)
	case '-':
		s.dashedAt(end)
	case '"', ',', ';', '|', '\n', '\r':
		s.headAt(i)
	}
}

// spokenAt reads the value after the name that ends at end.
func (s *scan) spokenAt(end int) {
	b := s.b
	start := nameStart(b, end)
	kind, spoken := KeyOf(b[start:end]), !isIdentifier(b[start:end])
	line := b[max(lineStartOf(b, start), start-2*maxKey):start]
	at, given := afterSign(b, blanks(b, end))
	v := valueAfter(&s.runs, at)
	if v.end-v.start < 6 || v.start-end > 2*maxGap || bytes.IndexByte(b[end:v.start], '\n') >= 0 {
		return
	}
	value := b[v.start:v.end]
	if !v.quoted && bytes.HasPrefix(line, []byte("#define ")) {
		return // code
	}
	sets := setsVariable(line)
	if vendorBefore(b[start:end], line) {
		drawn := inQuotes.takes(unmarked(value[:min(len(value), maxBare)]), vendorKey)
		if drawn {
			s.add(v.start, v.end, weakKey.Class())
		}
		if drawn || !sets {
			return
		}
	}
	if spoken && bytes.EqualFold(b[start:end], []byte("key")) {
		kind = KeyOf(append(append([]byte(nil), bytes.TrimRight(line, " ")...), "_key"...))
	}
	if kind == NoKey || kind == plainKey && spoken || kind == authKey || kind == headerKey {
		return
	}
	given = given || v.quoted || sets ||
		v.start > end+1 && isRowOfTwo(b, start, v.end)
	secret := Judge(value, v.quoted, kind)
	switch {
	case given && !secret:
		secret = !v.quoted && setting.takes(unmarked(value), kind)
	case spoken && !given:
		in := near
		if kind == strongKey && v.start == end+1 && lineEnd(b, v.end) == v.end {
			in = said // nothing is behind it
		}
		secret = in.takesIn(unmarked(value), kind, line)
	}
	if secret {
		s.add(v.start, v.end, kind.Class())
	}
}

// dashedAt reads vendor-secret-VALUE, and of any name a value of 32 hexadecimal digits or more.
func (s *scan) dashedAt(end int) {
	b := s.b
	stop := chars.RunEnd(b, end+1, chars.IsURLSafe)
	start := nameStart(b, end)
	v := b[end+1 : stop]
	if !vendorBefore(b[start:end], nil) &&
		(len(v) < 32 || !lowerHex(v) || KeyOf(b[start:end]) != weakKey) {
		return
	}
	s.take(inQuotes, end+1, stop, vendorKey)
}

// afterSign returns the start of the value after a name: behind the flag of a command that takes
// one, the sign of a here-string, a default, or what a prompt has. given says that such a sign is
// there, so that words are no prose.
func afterSign(b []byte, at int) (start int, given bool) {
	if at+1 < len(b) && chars.IsDigit(b[at]) && b[at+1] == ' ' { // how a router keeps it
		return at + 2, true
	}
	for _, sign := range [...]string{"<<< ", "|| ", "?? ", "[None]: ", "[none]: ", "(again): ",
		"--body ", "--body=", "--value ", "--value=", "-Value ", "--secret-string ",
		"--secret-string=", "--plaintext ", "--text ", "--data ", "-b ", "-v "} {
		if bytes.HasPrefix(b[at:], []byte(sign)) {
			return at + len(sign), true
		}
	}
	if bytes.HasPrefix(b[at:], []byte("-b")) && at+2 < len(b) && chars.IsAlnum(b[at+2]) {
		return at + 2, true
	}
	return at, false
}

// isRowOfTwo reports whether a line from start to end has a name and a value, below a first line
// with dashes under it, as Vault prints them.
func isRowOfTwo(b []byte, start, end int) bool {
	above := b[max(0, start-1<<10):start]
	return (len(above) == 0 || above[len(above)-1] == '\n') && lineEnd(b, end) == end &&
		bytes.Contains(above, []byte("\n---")) && bytes.Contains(above, []byte("Value\n"))
}

// isIdentifier reports whether a name is one of a program or a setting, and no word of prose.
func isIdentifier(name []byte) bool {
	return bytes.ContainsAny(name, "_.-") || camel(name) || bytes.HasSuffix(name, []byte("pass")) ||
		bytes.HasSuffix(name, []byte("pw")) || bytes.HasSuffix(name, []byte("auth"))
}

// setsVariable reports whether the line before a name is a command that sets a variable.
func setsVariable(line []byte) bool {
	return has(string(line), "ENV ", "ARG ", "setx ", "setenv ", "SetEnv ", "set -", "secret set ",
		"configure set ", "config set ", "config --", "fastcgi_param ")
}

// vendorBefore reports whether one of the last words of a name, or of the line before it, names a
// service that hands out keys.
func vendorBefore(name, line []byte) bool {
	rest := append(append(append([]byte(nil), line...), ' '), name...)
	for range 4 {
		var last string
		if last, rest = lastPart(rest); last == "" {
			return false
		}
		for _, w := range [...]string{"secret", "token", "key", "access", "private"} {
			last = strings.TrimSuffix(last, w)
		}
		if isVendor(last) {
			return true
		}
	}
	return false
}

func lineStartOf(b []byte, i int) int {
	return bytes.LastIndexByte(b[max(0, i-4*maxKey):i], '\n') + 1 + max(0, i-4*maxKey)
}
