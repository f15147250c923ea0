package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// This file reads the passwords of connections, and what commands print below a prompt.

// accountAt reads the password of a connection: the last literal among the arguments at b[at] that
// is one, behind that of the user.
func (s *scan) accountAt(at int) {
	n := 0
	var found value
	for v := range literals(s.b, at, 5) {
		if bytes.IndexByte(s.b[at:v.start], ')') >= 0 && n > 0 {
			break // behind the call
		}
		at = v.end
		if n++; n > 1 && Judge(s.b[v.start:v.end], true, strongKey) {
			found = v
		}
	}
	if found.end > 0 {
		s.add(found.start, found.end, strongKey.Class())
	}
}

// shownAt reads what a command has printed below the line with the prompt of a shell, whose words
// begin at b[at].
func (s *scan) shownAt(at int) {
	b := s.b
	end := lineEnd(b[:min(len(b), at+maxLiteral)], at)
	next := lineEnd(b[:min(len(b), end+1+maxLiteral)], min(end+1, len(b)))
	if next <= end+1 || bytes.HasPrefix(b[end+1:], []byte("$ ")) {
		return
	}
	words := strings.Fields(string(b[at:end]))
	if pipe := slices.Index(words, "|"); pipe > 0 {
		words = words[:pipe]
	}
	for _, v := range PrintedBy(words).Values(string(b[end+1 : next])) {
		if from := bytes.Index(b[end+1:next], []byte(v)); from >= 0 {
			s.add(end+1+from, end+1+from+len(v), strongKey.Class())
		}
	}
}
