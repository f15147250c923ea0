package jsonvalue

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encode writes v on one line, with the members of maps sorted by name. Characters of HTML stay as
// they are. What cannot be JSON, such as a channel, is written as null.
func Encode(v any) json.RawMessage {
	var out []byte
	var ok bool
	switch v := v.(type) {
	case string:
		return AppendText(make([]byte, 0, len(v)+len(v)/16+2), v)
	case bool:
		return strconv.AppendBool(nil, v)
	case json.RawMessage:
		out, ok = appendRaw(make([]byte, 0, max(len(v), 4)), v)
	case Object:
		out, ok = appendMembers(v, appendRaw)
	case []json.RawMessage:
		out, ok = appendElements(v)
	default:
		return encode(v)
	}
	if !ok {
		return json.RawMessage("null")
	}
	return out
}

// encode is Encode for any value.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendRaw appends a value without white space. ok is false if it is not JSON.
func appendRaw(out []byte, raw json.RawMessage) (_ []byte, ok bool) {
	if raw == nil {
		return append(out, "null"...), true
	}
	return appendCompact(out, raw)
}

func appendCompact(out, value []byte) (_ []byte, ok bool) {
	s := scanner{in: value}
	end := s.skip(0, 0)
	if end < 0 || s.space(end) < len(value) {
		return out, false
	}
	if !s.spaced {
		return append(out, value...), true
	}
	for i := 0; i < len(value); {
		switch value[i] {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			end := s.text(i)
			out, i = append(out, value[i:end]...), end
		default:
			out, i = append(out, value[i]), i+1
		}
	}
	return out, true
}

// Join is Encode for an object of values that are on one line, as Encode writes them: they are not
// looked at.
func (o Object) Join() json.RawMessage {
	out, _ := appendMembers(o, func(out []byte, raw json.RawMessage) ([]byte, bool) {
		return append(out, raw...), true
	})
	return out
}

func appendMembers(
	o Object, value func([]byte, json.RawMessage) ([]byte, bool),
) (out []byte, ok bool) {
	if o == nil {
		return []byte("null"), true
	}
	var few [16]string
	names := few[:0]
	n := 2
	for name, v := range o {
		names = append(names, name)
		n += len(name) + len(v) + 4
	}
	slices.Sort(names)
	out = append(make([]byte, 0, n), '{')
	for i, name := range names {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendText(out, name), ':')
		if out, ok = value(out, o[name]); !ok {
			return nil, false
		}
	}
	return append(out, '}'), true
}

func appendElements(list []json.RawMessage) (out []byte, ok bool) {
	if list == nil {
		return []byte("null"), true
	}
	n := 2
	for _, raw := range list {
		n += len(raw) + 1
	}
	out = append(make([]byte, 0, n), '[')
	for i, raw := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if out, ok = appendRaw(out, raw); !ok {
			return nil, false
		}
	}
	return append(out, ']'), true
}

// AppendText appends s as a JSON string, as Encode writes it.
func AppendText(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); {
		if i = safeTo(s, i); i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				out = append(append(out, s[start:i]...), `\ufffd`...)
				start = i + size
			} else if r == 0x2028 || r == 0x2029 {
				out = append(append(out, s[start:i]...), `\u202`...)
				out = append(out, hex[r&0xf])
				start = i + size
			}
			i += size
			continue
		}
		out = append(out, s[start:i]...)
		switch c {
		case '\\', '"':
			out = append(out, '\\', c)
		case '\b':
			out = append(out, '\\', 'b')
		case '\f':
			out = append(out, '\\', 'f')
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
		i++
		start = i
	}
	return append(append(out, s[start:]...), '"')
}

// safeTo returns the index of the next byte at or after i that is not plain ASCII text, len(s) if
// there is none.
func safeTo(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		if at := special(x) | x&tops; at != 0 {
			return i + firstByte(at)
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// unescaped returns what the inside of a JSON string says. The inside is valid UTF-8, and its first
// escape is at at.
func unescaped(in []byte, at int) string {
	var b strings.Builder
	b.Grow(len(in))
	for at >= 0 {
		b.Write(in[:at])
		c := in[at+1]
		in = in[at+2:]
		if c == 'u' {
			r := hex4(in)
			in = in[4:]
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if len(in) >= 6 && in[0] == '\\' && in[1] == 'u' {
					pair = utf16.DecodeRune(r, hex4(in[2:]))
				}
				if r = pair; pair != utf8.RuneError {
					in = in[6:]
				}
			}
			b.WriteRune(r)
		} else {
			b.WriteByte(unescape[c])
		}
		at = bytes.IndexByte(in, '\\')
	}
	b.Write(in)
	return b.String()
}

// unescape is what the letter of an escape stands for.
var unescape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n',
	'r': '\r', 't': '\t'}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (r rune) {
	for _, c := range b[:4] {
		if c > '9' {
			c = c | 0x20 - 'a' + 10
		} else {
			c -= '0'
		}
		r = r<<4 | rune(c)
	}
	return r
}
