package jsonvalue

import (
	"bytes"
	"encoding/json"
	"slices"
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
	out     []byte
	members []written // of the open objects
	copied  []byte    // buffer of sort
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

// written is a member of an object in speller.out.
type written struct {
	name     []byte // decoded
	from, to int
}

// object writes the members as they come, and sorts them afterwards unless they are in order.
func (w *speller) object(i, depth int) int {
	first, start := len(w.members), len(w.out)
	w.out = append(w.out, '{')
	if i = w.space(i + 1); i < len(w.in) && w.in[i] == '}' {
		w.out = append(w.out, '}')
		return i + 1
	}
	inOrder := true
	for more := true; more; {
		from := i
		if i = w.name(i); i < 0 {
			return -1
		}
		name, plain := plainName(w.in[from:i])
		if !plain {
			quoted := w.in[from:i]
			quoted = quoted[:w.text(from)-from]
			said, _ := Text(quoted)
			name = []byte(said)
		}
		if w.Without != "" && string(name) == w.Without {
			i = w.skip(i, depth)
		} else {
			if len(w.members) > first {
				w.out = append(w.out, ',')
				inOrder = inOrder && bytes.Compare(w.members[len(w.members)-1].name, name) < 0
			}
			m := written{name: name, from: len(w.out)}
			if plain {
				w.out = append(append(append(w.out, '"'), name...), '"', ':')
			} else {
				w.out = append(AppendText(w.out, string(name)), ':')
			}
			i = w.value(i, depth)
			m.to = len(w.out)
			w.members = append(w.members, m)
		}
		if i < 0 {
			return -1
		}
		if i = w.space(i); i >= len(w.in) {
			return -1
		}
		switch w.in[i] {
		case ',':
			i = w.space(i + 1)
		case '}':
			i, more = i+1, false
		default:
			return -1
		}
	}
	if !inOrder {
		w.sort(w.members[first:], start)
	}
	w.members = w.members[:first]
	w.out = append(w.out, '}')
	return i
}

// sort sorts members that have been written from start on. Of several with one name the last stays.
func (w *speller) sort(members []written, start int) {
	as := append(w.copied[:0], w.out[start:]...)
	w.copied = as
	slices.SortStableFunc(members, func(a, b written) int { return bytes.Compare(a.name, b.name) })
	w.out = append(w.out[:start], '{')
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(members[i+1].name, m.name) {
			continue
		}
		if len(w.out) > start+1 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, as[m.from-start:m.to-start]...)
	}
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
	return bytes.IndexByte(in, "\u2028"[0]) < 0 ||
		!bytes.Contains(in, []byte("\u2028")) && !bytes.Contains(in, []byte("\u2029"))
}
