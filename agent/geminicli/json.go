package geminicli

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// object is a JSON object with its values unread. Names are matched exactly, which decoding into a struct does not do.
type object map[string]json.RawMessage

// parseObject reads raw as an object; ok is false for any other JSON.
func parseObject(raw []byte) (o object, ok bool) {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, false
	}
	if json.Unmarshal(raw, &o) != nil {
		return nil, false
	}
	return o, true
}

// str returns the string at name; ok is false if there is none, or something else.
func (o object) str(name string) (s string, ok bool) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// text returns the string at name, or "".
func (o object) text(name string) string {
	s, _ := o.str(name)
	return s
}

// array returns the elements at name; ok is false if there is no array.
func (o object) array(name string) (list []json.RawMessage, ok bool) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return list, json.Unmarshal(raw, &list) == nil
}

// object returns the object at name; ok is false if there is none.
func (o object) object(name string) (object, bool) { return parseObject(o[name]) }

// decodeAny reads any JSON value, numbers as json.Number. What is not JSON gives nil.
func decodeAny(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// canonical prints v with sorted keys, no white space and no needless escapes.
func canonical(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return []byte("null") // v came out of a decoder, which makes nothing that cannot be printed
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// normalise returns v with its numbers in the one spelling that JavaScript prints, and without the opaque signatures that
// the model adds: the agent parses and prints again whatever it copies, and adds and drops signatures on the way.
func normalise(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			if name != "thoughtSignature" {
				out[name] = normalise(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, value := range v {
			out[i] = normalise(value)
		}
		return out
	case json.Number:
		return normaliseNumber(v)
	}
	return v
}

func normaliseNumber(n json.Number) any {
	f, err := strconv.ParseFloat(n.String(), 64)
	switch {
	case err != nil || math.IsInf(f, 0):
		return n
	case f == 0:
		return 0.0 // also for -0
	}
	return f
}
