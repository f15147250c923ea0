package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// stdinAt reads the secret that a command line gives to a program on its standard input: echo
// SECRET | program, or program <<< SECRET. What says that it is one is at b[i:end].
func (s *scan) stdinAt(i, end int) {
	b := s.b
	line := lineStartOf(b, i)
	if pipe := bytes.LastIndexByte(b[line:i], '|'); pipe > 0 {
		s.echoed(line, line+pipe, bytes.HasSuffix(b[i:end], []byte("chpasswd")))
		return
	}
	here := bytes.Index(b[end:lineEnd(b[:min(len(b), end+4*maxKey)], end)], []byte("<<"))
	if at := end + here + len("<<< "); here >= 0 && at < len(b) {
		if b[at-2] != '<' { // a document, whose first line is the secret
			at = lineEnd(b, at-2) + 1
		}
		v := valueAfter(&s.runs, at)
		s.given(v, bytes.HasSuffix(b[i:end], []byte("chpasswd")))
		n := v.end - v.start
		if again := v.end + 1; n > 0 && bytes.HasPrefix(b[min(again, len(b)):], b[v.start:v.end]) {
			s.given(value{again, again + n, false}, false)
		}
	}
}

// echoed reads the last argument of the echo in b[line:pipe], or of the printf, behind whose format
// all are values.
func (s *scan) echoed(line, pipe int, named bool) {
	b := s.b
	at := -1
	for _, command := range [...]string{"echo ", "printf ", "Write-Output "} {
		if i := bytes.LastIndex(b[line:pipe], []byte(command)); i >= 0 {
			at = max(at, line+i+len(command))
		}
	}
	if at < 0 {
		return
	}
	next := func(end int) int { return blanks(b[:pipe], min(end, pipe)) }
	for at < pipe && b[at] == '-' {
		at = next(argumentEnd(b[:pipe], at))
	}
	values := 1
	if end := argumentEnd(b[:pipe], at); isFormat(b[at:end]) && next(end) < pipe {
		at, values = next(end), maxValues
	}
	for ; values > 0 && at < pipe; values-- {
		v := valueAfter(&s.runs, at)
		if v.end > pipe {
			return
		}
		s.given(v, named)
		at = next(argumentEnd(b[:pipe], at))
	}
}

// maxValues is the largest number of values behind a format: a password, and once more.
const maxValues = 4

// argumentEnd returns the end of the argument of a shell that begins at i.
func argumentEnd(b []byte, i int) int {
	if i < len(b) && (b[i] == '\'' || b[i] == '"') {
		if n := bytes.IndexByte(b[i+1:], b[i]); n >= 0 {
			return i + n + 2
		}
	}
	return chars.RunEnd(b, i, func(c byte) bool { return c != ' ' })
}

// isFormat reports whether an argument is a format of printf, which prints those after it.
func isFormat(b []byte) bool {
	return bytes.Contains(b, []byte("%s")) || bytes.Contains(b, []byte("%b"))
}

// given adds a value that can only be a secret, behind a name and a colon if it has one.
func (s *scan) given(v value, named bool) {
	if colon := bytes.IndexByte(s.b[v.start:v.end], ':'); named && colon >= 0 {
		v.start += colon + 1
	}
	s.take(only, v.start, v.end, strongKey)
}
