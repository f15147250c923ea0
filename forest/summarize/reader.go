package summarize

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
)

// reader decodes an encoded list. After the first malformed byte, bad stays true and nothing more
// is read.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) sentence() Sentence {
	var s Sentence
	r.skip(`{"entry":"`)
	s.Entry = r.id()
	r.skip(`","seq":`)
	s.Seq = r.unsigned()
	s.Role = user
	if r.has(`,"role":`) {
		if s.Role = r.text(); s.Role == "" || s.Role == user {
			r.bad = true
		}
	}
	r.skip(`,"pos":`)
	s.Pos = int(r.signed())
	r.skip(`,"weight":`)
	s.Weight = r.signed()
	r.skip(`,"text":`)
	s.Text = r.text()
	r.skip("}")
	return s
}

// has skips what if it is next, and reports whether it was.
func (r *reader) has(what string) bool {
	if r.bad || !bytes.HasPrefix(r.rest, []byte(what)) {
		return false
	}
	r.rest = r.rest[len(what):]
	return true
}

func (r *reader) skip(what string) {
	if !r.has(what) {
		r.bad = true
	}
}

func (r *reader) id() format.ID {
	if r.bad || len(r.rest) < format.IDLen {
		r.bad = true
		return format.ID{}
	}
	id, err := format.ParseID(string(r.rest[:format.IDLen]))
	r.rest, r.bad = r.rest[format.IDLen:], err != nil
	return id
}

// digits returns the next number as written.
func (r *reader) digits() string {
	n := 0
	for n < len(r.rest) && (r.rest[n] >= '0' && r.rest[n] <= '9' || n == 0 && r.rest[n] == '-') {
		n++
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

func (r *reader) unsigned() uint64 {
	s := r.digits()
	n, err := strconv.ParseUint(s, 10, 64)
	r.bad = r.bad || err != nil || strconv.FormatUint(n, 10) != s
	return n
}

func (r *reader) signed() int64 {
	s := r.digits()
	n, err := strconv.ParseInt(s, 10, 64)
	r.bad = r.bad || err != nil || strconv.FormatInt(n, 10) != s
	return n
}

// text reads a string. It accepts only the escapes that appendString writes.
func (r *reader) text() string {
	r.skip(`"`)
	n := bytes.IndexAny(r.rest, "\"\\")
	if r.bad || n < 0 {
		r.bad = true
		return ""
	}
	var long []byte // the text up to the last escape
	for r.rest[n] == '\\' {
		long = append(long, r.plain(n)...)
		c := r.escaped()
		if r.bad {
			return ""
		}
		long = append(long, c)
		if n = bytes.IndexAny(r.rest, "\"\\"); n < 0 {
			r.bad = true
			return ""
		}
	}
	last := r.plain(n)
	r.skip(`"`)
	if long == nil {
		return string(last)
	}
	return string(append(long, last...))
}

// plain reads n bytes that need no escape.
func (r *reader) plain(n int) []byte {
	s := r.rest[:n]
	r.rest = r.rest[n:]
	r.bad = r.bad || !utf8.Valid(s)
	for _, c := range s {
		r.bad = r.bad || c < ' '
	}
	return s
}

// escaped reads an escape and returns the byte that it stands for.
func (r *reader) escaped() byte {
	if len(r.rest) < 2 {
		r.bad = true
		return 0
	}
	c := r.rest[1]
	n := 2
	switch c {
	case '"', '\\':
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	default:
		n = min(6, len(r.rest))
		v, err := strconv.ParseUint(string(r.rest[min(2, n):n]), 16, 8)
		c = byte(v)
		if err != nil || c >= ' ' ||
			string(appendString(nil, string(rune(c)))) != `"`+string(r.rest[:n])+`"` {
			r.bad = true
		}
	}
	r.rest = r.rest[n:]
	return c
}
