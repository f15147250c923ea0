package jsonvalue

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Spelling is a form in which equal values are the same bytes: no white space, the members of each
// object sorted by name, of several with one name the last, and each string as Encode writes it.
type Spelling struct {
	Without string                          // the name of members that are left out; "" for none
	Number  func(out, number []byte) []byte // appends a number; nil writes it as it was
}

// Append appends the value that value begins with. ok is false if there is none.
func (f *Spelling) Append(out, value []byte) (_ []byte, ok bool) {
	w := speller{Spelling: f, scanner: scanner{in: value}, out: out}
	end := w.value(0, 0)
	return w.out, end >= 0
}

// Canonical writes a value in one form, with numbers as they were. What is not JSON is written as
// null.
func Canonical(value []byte) json.RawMessage {
	out, ok := new(Spelling).Append(make([]byte, 0, len(value)), value)
	if !ok {
		return json.RawMessage("null")
	}
	return out
}

// speller writes values in one spelling while it scans them.
type speller struct {
	*Spelling
	scanner
	out []byte
}

// value writes the value that begins at i, after white space, and returns its end, or -1.
func (w *speller) value(i, depth int) int {
	if i = w.space(i); i >= len(w.in) {
		return -1
	}
	start := i
	switch w.in[i] {
	case '"':
		if i = w.text(i); i >= 0 {
			w.string(w.in[start:i])
		}
		return i
	case '{':
		if depth == maxNesting {
			return -1
		}
		return w.object(i, depth+1)
	case '[':
		if depth == maxNesting {
			return -1
		}
		return w.array(i, depth+1)
	case 't', 'f', 'n':
		if i = w.skip(i, depth); i >= 0 {
			w.out = append(w.out, w.in[start:i]...)
		}
		return i
	}
	if i = w.number(i); i < 0 {
		return -1
	}
	if w.Number != nil {
		w.out = w.Number(w.out, w.in[start:i])
	} else {
		w.out = append(w.out, w.in[start:i]...)
	}
	return i
}

func (w *speller) array(i, depth int) int {
	w.out = append(w.out, '[')
	if i = w.space(i + 1); i < len(w.in) && w.in[i] == ']' {
		w.out = append(w.out, ']')
		return i + 1
	}
	for {
		if i = w.value(i, depth); i < 0 {
			return -1
		}
		if i = w.space(i); i >= len(w.in) {
			return -1
		}
		switch w.in[i] {
		case ',':
			w.out = append(w.out, ',')
			i++
		case ']':
			w.out = append(w.out, ']')
			return i + 1
		default:
			return -1
		}
	}
}

// object writes the members as they come while they are in order, and sorts them otherwise.
func (w *speller) object(i, depth int) int {
	start, written := i, len(w.out)
	w.out = append(w.out, '{')
	if i = w.space(i + 1); i < len(w.in) && w.in[i] == '}' {
		w.out = append(w.out, '}')
		return i + 1
	}
	last, first := "", true
	for {
		from := i
		if i = w.name(i); i < 0 {
			return -1
		}
		name, plain := plainName(w.in[from:i])
		switch {
		case !plain || !first && string(name) <= last:
			w.out = w.out[:written]
			return w.sorted(start, depth)
		case w.Without != "" && string(name) == w.Without:
			i = w.skip(i, depth)
		default:
			if len(w.out) > written+1 {
				w.out = append(w.out, ',')
			}
			w.out = append(append(append(w.out, '"'), name...), '"', ':')
			i = w.value(i, depth)
		}
		if i < 0 {
			return -1
		}
		last, first = string(name), false
		if i = w.space(i); i >= len(w.in) {
			return -1
		}
		switch w.in[i] {
		case ',':
			i = w.space(i + 1)
		case '}':
			w.out = append(w.out, '}')
			return i + 1
		default:
			return -1
		}
	}
}

// sorted writes an object whose members are in any order.
func (w *speller) sorted(i, depth int) int {
	end := w.skip(i, depth-1)
	if end < 0 {
		return -1
	}
	members, err := Members(w.in[i:end])
	if err != nil {
		return -1
	}
	for i := range members {
		if name := &members[i].Name; !utf8.ValidString(*name) {
			*name = string([]rune(*name)) // one U+FFFD for each byte
		}
	}
	slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	w.out = append(w.out, '{')
	written := len(w.out)
	for i, m := range members {
		if i+1 < len(members) && members[i+1].Name == m.Name || w.Without != "" && m.Name == w.Without {
			continue
		}
		if len(w.out) > written {
			w.out = append(w.out, ',')
		}
		w.out = append(AppendText(w.out, m.Name), ':')
		inner := speller{Spelling: w.Spelling, scanner: scanner{in: m.Value}, out: w.out}
		if inner.value(0, depth) < 0 {
			return -1
		}
		w.out = inner.out
	}
	w.out = append(w.out, '}')
	return end
}

// plainName returns the name in a quoted name and what follows it. plain is false if the name may
// be spelled in another way.
func plainName(b []byte) (name []byte, plain bool) {
	b = b[1:]
	for i, c := range b {
		switch {
		case c == '"':
			return b[:i], true
		case c == '\\' || c >= utf8.RuneSelf:
			return nil, false
		}
	}
	return nil, false
}

// string writes a JSON string.
func (w *speller) string(quoted []byte) {
	if asWritten(quoted) {
		w.out = append(w.out, quoted...)
		return
	}
	s, _ := Text(quoted)
	w.out = AppendText(w.out, s)
}

// asWritten reports whether AppendText writes what a JSON string says in the same bytes.
func asWritten(quoted []byte) bool {
	in := quoted[1 : len(quoted)-1]
	for i := bytes.IndexByte(in, '\\'); i >= 0 && i < len(in); {
		if c := in[i+1]; c == 'u' || c == '/' {
			return false
		}
		next := bytes.IndexByte(in[i+2:], '\\')
		if next < 0 {
			break
		}
		i += 2 + next
	}
	if !utf8.Valid(in) {
		return false
	}
	return bytes.IndexByte(in, "\u2028"[0]) < 0 || !bytes.Contains(in, []byte("\u2028")) && !bytes.Contains(in, []byte("\u2029"))
}
