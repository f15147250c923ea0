package adk

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// field is a member of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// object is a JSON object as it was written: its members in order.
type object []field

// parseObject reads raw, which is JSON, as an object; ok is false for anything else. Of members with one name the last counts, and has the first one's
// place. An event is taken apart often, so the bytes are only cut up here.
func parseObject(raw []byte) (o object, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	var places map[string]int // of the names, where there are many
	for at := skipSpace(raw, 1); raw[at] != '}'; {
		end := endOfString(raw, at)
		name, _ := text(raw[at:end])
		at = skipSpace(raw, skipSpace(raw, end)+1) // over the colon
		end = endOfValue(raw, at)
		if len(o) == 64 && places == nil {
			places = make(map[string]int, 128)
			for i, f := range o {
				places[f.name] = i
			}
		}
		i, twice := places[name]
		switch value := raw[at:end:end]; {
		case twice:
			o[i].value = value
		case places == nil:
			o = o.with(name, value)
		default:
			places[name] = len(o)
			o = append(o, field{name, value})
		}
		if at = skipSpace(raw, end); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
	return o, true
}

func skipSpace(b []byte, at int) int {
	for b[at] == ' ' || b[at] == '\t' || b[at] == '\n' || b[at] == '\r' {
		at++
	}
	return at
}

// endOfString returns the index after the string that begins at at.
func endOfString(b []byte, at int) int {
	for at++; b[at] != '"'; at++ {
		if b[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// endOfValue returns the index after the value that begins at at, and is followed by something.
func endOfValue(b []byte, at int) int {
	for depth := 0; ; {
		switch b[at] {
		case '"':
			at = endOfString(b, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default:
			at++
			if depth == 0 {
				for b[at] != ',' && b[at] != '}' && b[at] != ']' && b[at] > ' ' {
					at++
				}
			}
		}
		if depth == 0 {
			return at
		}
	}
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(f field) bool { return f.name == name })
}

// get returns the value at name; nil where there is none, and for null.
func (o object) get(name string) json.RawMessage {
	if i := o.index(name); i >= 0 && string(o[i].value) != "null" {
		return o[i].value
	}
	return nil
}

// with sets a member: in its place, or at the end.
func (o object) with(name string, value json.RawMessage) object {
	if i := o.index(name); i >= 0 {
		o[i].value = value
		return o
	}
	return append(o, field{name, value})
}

// without returns o without some members, in an array of its own.
func (o object) without(names ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(f field) bool { return slices.Contains(names, f.name) })
}

func (o object) encode() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(transcript.Encode(f.name))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// text returns raw as a string; ok is false for any other JSON.
func text(raw []byte) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// elements returns the elements of an array; ok is false for any other JSON.
func elements(raw []byte) (list []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	list = []json.RawMessage{}
	for at := skipSpace(raw, 1); raw[at] != ']'; {
		end := endOfValue(raw, at)
		list = append(list, raw[at:end:end])
		if at = skipSpace(raw, end); raw[at] == ',' {
			at = skipSpace(raw, at+1)
		}
	}
	return list, true
}

func array(list []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, raw := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(raw)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// compact returns valid JSON without white space between its tokens, everything else as it was.
func compact(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return json.RawMessage("null")
	}
	return b.Bytes()
}

// isEmpty reports whether raw says nothing: null, an empty array or object.
func isEmpty(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "[]", "{}":
		return true
	}
	return false
}

func decodeAny(raw json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// normalise returns v with its numbers in the one spelling that JavaScript prints, and without the opaque signatures that the model adds and agents
// drop.
func normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if name == "thoughtSignature" {
				delete(v, name)
				continue
			}
			v[name] = normalise(value)
		}
	case []any:
		for i, value := range v {
			v[i] = normalise(value)
		}
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		switch {
		case err != nil || math.IsInf(f, 0):
			return v
		case f == 0:
			return 0.0 // also for -0
		}
		return f
	}
	return v
}

// normalParts returns parts in one spelling: keys sorted, plain texts that follow each other as one.
func normalParts(list []json.RawMessage) []byte {
	var out []any
	run, open := "", false
	flush := func() {
		if open {
			out = append(out, map[string]any{"text": run})
		}
		run, open = "", false
	}
	for _, raw := range list {
		v := normalise(decodeAny(raw))
		if m, _ := v.(map[string]any); len(m) == 1 {
			if s, ok := m["text"].(string); ok {
				run, open = run+s, true
				continue
			}
		}
		flush()
		out = append(out, v)
	}
	flush()
	if out == nil {
		out = []any{}
	}
	return transcript.Encode(out)
}
