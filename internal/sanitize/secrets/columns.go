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
	sep, in := separatorOf(b[start:end]), inQuotes
	if bytes.HasPrefix(b[start:end], []byte("# ")) { // over words with any blanks between
		start, sep, in = start+len("# "), " ", near
	}
	if sep == "" {
		return
	}
	var kinds []Key
	any := false
	for from, to := range fields(b[start:end], sep) {
		name := b[start+from : start+to]
		if from == to || !chars.Only(name, func(c byte) bool {
			return chars.IsDotted(c) || c == ' ' && sep == ","
		}) || chars.IsDigit(name[0]) || bytes.Count(name, []byte(" ")) > 3 ||
			isStringType(name) { // of a field in a program
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
		if start >= len(b) || end == start || !s.fieldsOf(start, end, sep, kinds, in) {
			return
		}
	}
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

// fieldsOf reads a line of values, and reports whether it has as many fields as the first line.
// Below a remark it may have fewer.
func (s *scan) fieldsOf(start, end int, sep string, kinds []Key, in place) bool {
	n := 0
	for range fields(s.b[start:end], sep) {
		n++
	}
	if n != len(kinds) && in != near {
		return false
	}
	n = 0
	for from, to := range fields(s.b[start:end], sep) {
		if n < len(kinds) {
			s.cell(start+from, start+to, kinds[n], in)
		}
		n++
	}
	return true
}

// cell adds the value of a field, b[from:to], under a key of this kind.
func (s *scan) cell(from, to int, kind Key, in place) {
	v := s.b[from:to]
	if kind != NoKey && len(v) > 0 && len(v) <= maxLiteral && bytes.IndexByte(v, ' ') < 0 &&
		!code(v) && in.takes(unmarked(v), kind) {
		s.add(from, to, kind.Class())
	}
}

// separatorOf returns what separates the names in a first line, or "" if it is none.
func separatorOf(line []byte) string {
	for _, sep := range [...]string{"\t", ",", ";", "|"} {
		if bytes.Index(line, []byte(sep)) > 0 {
			return sep
		}
	}
	if bytes.Contains(line, []byte("  ")) {
		return " "
	}
	return ""
}

// fields yields the bounds of each field of a line, without quotes and blanks around it.
func fields(line []byte, sep string) func(func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for at, n := 0, 0; at < len(line) && n < maxColumns; n++ {
			end := chars.IndexFrom(line, at, sep)
			if sep == " " {
				at = chars.RunEnd(line, at, chars.IsSpace)
				end = chars.RunEnd(line, at, chars.NotSpace)
				if at == end {
					return
				}
			} else if end < 0 {
				end = len(line)
			}
			if from, to := trimCell(line, at, end); !yield(from, to) {
				return
			}
			at = end + len(sep)
		}
	}
}

// insertAt reads the rows of an INSERT of SQL, whose table is named at b[at], below the names of
// their columns.
func (s *scan) insertAt(_, at int) {
	b := s.b[:min(len(s.b), at+maxLiteral)]
	open := chars.IndexFrom(b[:min(len(b), at+2*maxKey)], at, "(")
	if open < 0 {
		return
	}
	end := chars.RunEnd(b, open, func(c byte) bool { return c != ')' })
	var kinds []Key
	for name := range bytes.SplitSeq(b[open+1:end], []byte(",")) {
		kinds = append(kinds, cellKey(bytes.Trim(name, " \t\r\n\"`[]")))
	}
	n := len(kinds)
	for i := end; i < len(b) && b[i] != ';'; i++ {
		switch b[i] {
		case '(':
			n = 0
		case ',':
			n++
		case '\'':
			v := quotedValue(b, i)
			if n < len(kinds) && kinds[n] != NoKey {
				s.judge(v, kinds[n])
			}
			i = v.end
		}
	}
}
