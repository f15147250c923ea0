package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// This file reads columns: a first line that names them, with commas, semicolons, tabs or blanks
// between, and lines of values below.

// maxRows is the number of lines below a first line that are read, and maxColumns of the fields of
// a line.
const (
	maxRows    = 1000
	maxColumns = 64
)

// headAt reads the columns whose first line has b[i].
func (s *scan) headAt(i int) {
	b := s.b
	if i < s.past[columnRule] {
		return
	}
	start := lineStartOf(b, i)
	end := lineEnd(b, i)
	s.past[columnRule] = end
	if end-start > 1024 || end == len(b) {
		return
	}
	sep := separatorOf(b[start:end])
	if sep == 0 {
		return
	}
	var kinds []Key
	any := false
	for from, to := range fields(b[start:end], sep) {
		name := b[start+from : start+to]
		if from == to || !chars.Only(name, chars.IsDotted) || chars.IsDigit(name[0]) {
			return
		}
		kinds = append(kinds, KeyOf(name))
		any = any || kinds[len(kinds)-1] != NoKey
	}
	if len(kinds) < 2 || !any {
		return
	}
	for range maxRows {
		start, end = end+1, lineEnd(b, end+1)
		if start >= len(b) || end == start || !s.fieldsOf(start, end, sep, kinds) {
			return
		}
	}
}

// fieldsOf reads a line of values, and reports whether it has as many fields as the first line.
func (s *scan) fieldsOf(start, end int, sep byte, kinds []Key) bool {
	var found []Found
	n := 0
	for from, to := range fields(s.b[start:end], sep) {
		if n == len(kinds) {
			return false
		}
		v := s.b[start+from : start+to]
		if kinds[n] != NoKey && len(v) > 0 && !code(v) && Judge(v, true, kinds[n]) {
			found = append(found, Found{kinds[n].Class(), start + from, start + to})
		}
		n++
	}
	if n != len(kinds) {
		return false
	}
	s.found = append(s.found, found...)
	return true
}

func lineEnd(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(b)
}

// separatorOf returns what separates the names in a first line, or 0 if it is none.
func separatorOf(line []byte) byte {
	for _, sep := range [...]byte{'\t', ',', ';'} {
		if bytes.IndexByte(line, sep) > 0 {
			return sep
		}
	}
	if bytes.Contains(line, []byte("  ")) {
		return ' '
	}
	return 0
}

// fields yields the bounds of each field of a line, without quotes and blanks around it.
func fields(line []byte, sep byte) func(func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for at, n := 0, 0; at <= len(line) && n < maxColumns; n++ {
			var end int
			if sep == ' ' {
				at = chars.RunEnd(line, at, chars.IsSpace)
				end = chars.RunEnd(line, at, func(c byte) bool { return !chars.IsSpace(c) })
				if at == end {
					return
				}
			} else if end = at + bytes.IndexByte(line[at:], sep); end < at {
				end = len(line)
			}
			if from, to := trimCell(line, at, end); !yield(from, to) {
				return
			}
			at = end + 1
		}
	}
}
