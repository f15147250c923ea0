package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// This file reads the passwords of connections, and what commands print below a prompt.

// accountAt reads the password of a connection: the last literal among the arguments at b[at] that
// is one, behind that of the user.
func (s *scan) accountAt(i, at int) {
	n, most := 0, 1
	kind := strongKey
	if bytes.HasSuffix(s.b[i:at], []byte("auth(")) { // Redis has no users by default
		most, kind = 0, weakKey
	}
	var found value
	for v := range literals(s.b, at, 5) {
		if bytes.IndexByte(s.b[at:v.start], ')') >= 0 && n > 0 {
			break // behind the call
		}
		at = v.end
		if n++; n > 1 {
			kind = strongKey
		}
		if n > most && Judge(s.b[v.start:v.end], true, kind) {
			found = v
		}
	}
	if found.end > 0 {
		s.add(found.start, found.end, strongKey.Class())
	}
}

// shownAt reads what a command has printed below the line with the prompt of a shell, whose words
// begin at b[at], up to an empty line or the next prompt.
func (s *scan) shownAt(_, at int) {
	b := s.b[:min(len(s.b), at+maxLiteral)]
	end := lineEnd(b, at)
	words := strings.Fields(string(b[at:end]))
	if pipe := slices.Index(words, "|"); pipe > 0 {
		words = words[:pipe]
	}
	prints := PrintedBy(words)
	if prints == Other || end == len(b) {
		return
	}
	output := b[end+1:]
	for _, stop := range [...]string{"\n\n", "\n$ "} {
		if n := bytes.Index(b[end:], []byte(stop)); n >= 0 {
			output = output[:min(len(output), max(n-1, 0))]
		}
	}
	for _, v := range prints.Values(string(output)) {
		from := end + 1 + bytes.Index(output, []byte(v))
		s.add(from, from+len(v), strongKey.Class())
	}
}

// evaluatedAt reads the value that an interpreter or a debugger prints below its prompt, at b[i],
// and the name of a secret.
func (s *scan) evaluatedAt(i, _ int) {
	b := s.b
	end := lineEnd(b, i)
	if expression := string(b[i:end]); i > 0 && b[i-1] != '\n' || end == len(b) ||
		!hasName(expression) && !draws(expression) {
		return
	}
	from, to := trimCell(b, end+1, lineEnd(b, end+1))
	if gap := bytes.LastIndexByte(b[from:to], ' '); gap >= 0 { // => "…", Out[3]: '…', $1 = 0x5 "…"
		from, to = trimCell(b, from+gap, to)
	}
	s.take(inQuotes, from, to, strongKey)
}
