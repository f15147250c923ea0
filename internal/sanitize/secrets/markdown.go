package secrets

import (
	"bytes"

	"github.com/gemini-ctx/ctx/internal/sanitize/chars"
)

// tableColumns is the Markdown table that the pass is in.
type tableColumns struct {
	kinds []Key // of the names in its first row
	end   int   // offset of the line feed after the last row
	seen  bool  // a row was read
}

// rowAt reads the table row whose first bar is at b[i]. It finds | Key | value |, and values in the
// column below a key. b[i:at] is what stands between cells.
func (s *scan) rowAt(i, at int) {
	b, t := s.b, &s.table
	if t.seen && i < t.end {
		return // another bar of the same row
	}
	bar := string(b[i:at])
	start := bytes.LastIndexByte(b[t.end:i], '\n') + 1 + t.end
	end := lineEnd(b, i)
	if !t.seen || start != t.end+1 && !isRuled(b[min(t.end+1, start):max(start-1, t.end+1)]) {
		t.kinds = nil
	}
	t.seen, t.end = true, end
	if line := b[start:end]; isRow(line, bar) || t.kinds != nil ||
		isRuled(b[min(end+1, len(b)):lineEnd(b, end+1)]) {
		s.row(line, start, bar)
	} else {
		t.kinds = nil
	}
}

// isRow reports whether a line with a bar is a table row and not a pipe of a shell: it begins or
// ends with a bar, except for quotation marks and the like.
func isRow(line []byte, bar string) bool {
	line = bytes.Trim(line, " \t\r>+-#/*\"'`")
	return len(line) > 1 && (bytes.HasPrefix(line, []byte(bar)) ||
		bytes.HasSuffix(line, []byte(bar)))
}

// isRuled reports whether a line is the one that psql and mysql draw below the names of columns, or
// one of box characters.
func isRuled(line []byte) bool {
	if box := bytes.TrimLeft(line, " "); bytes.HasPrefix(box, []byte("\xe2\x94")) ||
		bytes.HasPrefix(box, []byte("\xe2\x95")) {
		return chars.Only(box, func(c byte) bool { return c >= 0x80 || c == ' ' || c == '\r' })
	}
	return len(line) > 2 && bytes.IndexByte(line, '+') >= 0 &&
		chars.Only(line, func(c byte) bool { return c == '-' || c == '+' || c == '\r' })
}

// row reads a row, which begins at the given offset of the text.
func (s *scan) row(line []byte, offset int, bar string) {
	t := &s.table
	first := t.kinds == nil
	before := NoKey
	n := 0
	for from, to := range fields(line, bar) {
		kind := before
		if n < len(t.kinds) && t.kinds[n] != NoKey {
			kind = t.kinds[n]
		}
		before = cellKey(line[from:to])
		if first {
			t.kinds = append(t.kinds, before)
		}
		s.cell(offset+from, offset+to, kind, inQuotes)
		n++
	}
}

// trimCell returns the bounds of line[from:to] without surrounding blanks, quotes and emphasis.
func trimCell(line []byte, from, to int) (int, int) {
	in := func(c byte) bool { return chars.IsSpace(c) || chars.IsQuote(c) || c == '*' }
	from = chars.RunEnd(line[:to], from, in)
	return from, chars.RunStart(line, from, to, in)
}

// cellKey returns the kind of the key in a cell, which may consist of several words.
func cellKey(cell []byte) Key {
	if len(cell) == 0 || len(cell) > maxKey ||
		!chars.Only(cell, func(c byte) bool { return chars.IsDotted(c) || c == ' ' }) {
		return NoKey
	}
	return KeyOf(cell)
}
