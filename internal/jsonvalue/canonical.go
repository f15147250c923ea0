package jsonvalue

import (
	"bytes"
	"cmp"
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
	s := scanner{in: value}
	start := s.space(0)
	end := s.skip(start, 0)
	if end < 0 {
		return out, false
	}
	return f.AppendWithin(out, value[start:end]), true
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

// AppendWithin appends a value that is part of one that was read before, without white space around
// it.
func (f *Spelling) AppendWithin(out, value []byte) []byte {
	within := scanner{in: value, checked: true}
	switch value[0] {
	case '"':
		return appendString(out, value)
	case 't', 'f', 'n':
		return append(out, value...)
	case '[':
		out = append(out, '[')
		start := len(out)
		within.each('[', func(_, element []byte) {
			if len(out) > start {
				out = append(out, ',')
			}
			out = f.AppendWithin(out, element)
		})
		return append(out, ']')
	case '{':
		var few [24]Member
		list, _ := members(within, few[:0])
		for i, m := range list {
			if !utf8.ValidString(m.Name) {
				list[i].Name = string([]rune(m.Name)) // U+FFFD for each bad byte
			}
		}
		slices.SortStableFunc(list, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
		out = append(out, '{')
		start := len(out)
		for i, m := range list {
			again := i+1 < len(list) && list[i+1].Name == m.Name
			if again || f.Without != "" && m.Name == f.Without {
				continue
			}
			if len(out) > start {
				out = append(out, ',')
			}
			out = f.AppendWithin(append(AppendText(out, m.Name), ':'), m.Value)
		}
		return append(out, '}')
	}
	if f.Number != nil {
		return f.Number(out, value)
	}
	return append(out, value...)
}

// appendString appends a JSON string as AppendText writes it.
func appendString(out, quoted []byte) []byte {
	if asWritten(quoted) {
		return append(out, quoted...)
	}
	s, _ := Text(quoted)
	return AppendText(out, s)
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
