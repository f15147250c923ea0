package format

import (
	"bytes"
	"encoding/hex"
	"strconv"
)

// Sentence is a line of an extract, which docs/format/summary.md describes. Role and Text are as
// they stand there, escaped.
type Sentence struct {
	Entry       ID
	Seq         uint64
	Role        []byte // nil for none
	Pos, Weight int64
	Text        []byte
	Plain       bool // Text is not escaped yet
}

// The parts of a line.
const (
	lineEntry  = `{"entry":"`
	lineSeq    = `","seq":`
	lineRole   = `,"role":"`
	linePos    = `,"pos":`
	lineWeight = `,"weight":`
	lineText   = `,"text":"`
	lineEnd    = `"}`

	// MinSentence is the fewest bytes of a sentence without its role and its text, with the comma
	// and the newline.
	MinSentence = len(lineEntry) + 2*len(ID{}) + len(lineSeq) + len(linePos) + len(lineWeight) +
		len(lineText) + len(lineEnd) + 4
)

// ParseSentence reads a line without the comma. What it accepts may have another form than Append
// writes.
func ParseSentence(line []byte) (s Sentence, ok bool) {
	line, ok = bytes.CutPrefix(line, []byte(lineEntry))
	digits, line, ok2 := bytes.Cut(line, []byte(lineSeq))
	if !ok || !ok2 {
		return s, false
	}
	var err error
	if s.Entry, err = ParseID(string(digits)); err != nil {
		return s, false
	}
	n := bytes.IndexByte(line, ',')
	if n < 0 {
		return s, false
	}
	if s.Seq, err = strconv.ParseUint(string(line[:n]), 10, 64); err != nil {
		return s, false
	}
	line = line[n:]
	if rest, ok := bytes.CutPrefix(line, []byte(lineRole)); ok {
		if s.Role, line, ok = bytes.Cut(rest, []byte{'"'}); !ok {
			return s, false
		}
	}
	for _, field := range []struct {
		name string
		to   *int64
	}{{linePos, &s.Pos}, {lineWeight, &s.Weight}} {
		rest, ok := bytes.CutPrefix(line, []byte(field.name))
		n := bytes.IndexByte(rest, ',')
		if !ok || n < 0 {
			return s, false
		}
		if *field.to, err = strconv.ParseInt(string(rest[:n]), 10, 64); err != nil {
			return s, false
		}
		line = rest[n:]
	}
	line, ok = bytes.CutPrefix(line, []byte(lineText))
	s.Text, ok2 = bytes.CutSuffix(line, []byte(lineEnd))
	return s, ok && ok2
}

// Append appends the line, without a comma.
func (s *Sentence) Append(dst []byte) []byte {
	dst = hex.AppendEncode(append(dst, lineEntry...), s.Entry[:])
	dst = strconv.AppendUint(append(dst, lineSeq...), s.Seq, 10)
	if s.Role != nil {
		dst = append(append(append(dst, lineRole...), s.Role...), '"')
	}
	dst = strconv.AppendInt(append(dst, linePos...), s.Pos, 10)
	dst = strconv.AppendInt(append(dst, lineWeight...), s.Weight, 10)
	dst = append(dst, lineText...)
	if s.Plain {
		dst = AppendEscaped(dst, s.Text)
	} else {
		dst = append(dst, s.Text...)
	}
	return append(dst, lineEnd...)
}

// Len is how many bytes Role and Text take in the line.
func (s *Sentence) Len() int {
	if s.Plain {
		return len(s.Role) + escapedLen(s.Text)
	}
	return len(s.Role) + len(s.Text)
}

// escapes reports whether a byte is escaped in the strings of extracts.
func escapes(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

func escapedLen(text []byte) (n int) {
	for _, c := range text {
		n++
		switch {
		case !escapes(c):
		case c >= ' ' || c == '\n' || c == '\r' || c == '\t':
			n++
		default:
			n += len(`u00xx`)
		}
	}
	return n
}

// AppendEscaped appends a text as it stands in the strings of extracts.
func AppendEscaped(dst, text []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range text {
		switch {
		case !escapes(c):
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			dst = append(dst, '\\', c)
		}
	}
	return dst
}

// Unescaped returns the text that escaped gives. It leaves alone what it does not know.
func Unescaped(escaped []byte) []byte {
	if bytes.IndexByte(escaped, '\\') < 0 {
		return escaped
	}
	var text []byte
	for i := 0; i < len(escaped); i++ {
		c := escaped[i]
		if c != '\\' || i+1 == len(escaped) {
			text = append(text, c)
			continue
		}
		i++
		switch c = escaped[i]; c {
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			if n, err := strconv.ParseUint(string(escaped[i+1:min(i+5, len(escaped))]), 16,
				8); err == nil {
				c = byte(n)
				i += 4
			}
		}
		text = append(text, c)
	}
	return text
}
