package jsonvalue

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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
	quoted, err := jsontext.AppendQuote(out, s)
	if err != nil || strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029") {
		return append(out, encode(s)...) // which has escapes for these, and for bad bytes
	}
	return quoted
}
