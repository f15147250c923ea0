package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file reads what somebody gives to a server that asks who they are.

// openQuote returns what follows the blanks and the quotation mark at b[i].
func openQuote(b []byte, i int) int {
	if i = blanks(b, i); i < len(b) && chars.IsQuote(b[i]) {
		i++
	}
	return i
}

// authAt reads AUTH of a protocol, as Redis and SMTP have it: its last argument, where the line
// begins with it or a prompt stands before it. It has n bytes from b[i] on.
func (s *scan) authAt(i, n int) {
	b := s.b
	if i > 1 && b[i-1] != '\n' && !bytes.HasSuffix(b[:i], []byte("> ")) {
		return
	}
	end := chars.RunEnd(b, i+n, func(c byte) bool { return c != '\n' && c != '\r' && c != '\\' })
	words := bytes.Fields(b[i+n : end])
	if len(words) == 0 || len(words) > 2 {
		return
	}
	if v := words[len(words)-1]; Judge(v, false, strongKey) {
		start := i + n + bytes.LastIndex(b[i+n:end], v)
		s.add(start, start+len(v), strongKey.Class())
	}
}

// fieldAt reads a field of a form that was sent in parts, whose name is at b[at].
func (s *scan) fieldAt(at int) {
	b := s.b
	at = openQuote(b, at)
	end := chars.RunEnd(b, at, chars.IsDotted)
	kind := KeyOf(b[at:end])
	line := lineEnd(b, end)
	if value := lineEnd(b, line+1) + 1; kind != NoKey && value < len(b) &&
		len(bytes.TrimSpace(b[line:value])) == 0 {
		stop := chars.RunEnd(b, value, func(c byte) bool { return !chars.IsSpace(c) })
		if Judge(b[value:stop], true, kind) {
			s.add(value, stop, kind.Class())
		}
	}
}
