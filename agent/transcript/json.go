package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Object is a JSON object with its values unread. Names are matched exactly, which decoding into a struct does not do.
type Object map[string]json.RawMessage

// ParseObject reads raw as an object; ok is false for any other JSON.
func ParseObject(raw []byte) (o Object, ok bool) {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, false
	}
	if json.Unmarshal(raw, &o) != nil {
		return nil, false
	}
	return o, true
}

// Text returns the string at name, or "".
func (o Object) Text(name string) string {
	s, _ := Text(o[name])
	return s
}

// Text reads raw as a string; ok is false for any other JSON.
func Text(raw json.RawMessage) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// True reports whether name has the value true.
func (o Object) True(name string) bool { return string(o[name]) == "true" }

// Object returns the object at name; nil if there is none.
func (o Object) Object(name string) Object {
	in, _ := ParseObject(o[name])
	return in
}

// Array returns the elements at name; ok is false if there is no array.
func (o Object) Array(name string) (list []json.RawMessage, ok bool) { return Elements(o[name]) }

// Elements reads raw as an array; ok is false for any other JSON.
func Elements(raw json.RawMessage) (list []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return list, json.Unmarshal(raw, &list) == nil
}

// Number returns the whole number at name, or 0 where there is none, or a negative one.
func (o Object) Number(name string) uint64 {
	var n json.Number
	if raw := o[name]; len(raw) == 0 || raw[0] == '"' || json.Unmarshal(raw, &n) != nil {
		return 0
	}
	whole, err := n.Int64()
	if err != nil || whole < 0 {
		return 0
	}
	return uint64(whole)
}

// Has reports whether there is a value at name that is not null.
func (o Object) Has(name string) bool { return len(o[name]) > 0 && string(o[name]) != "null" }

// Without returns o without some members, as an object of its own.
func (o Object) Without(names ...string) Object {
	out := make(Object, len(o))
	for name, value := range o {
		out[name] = value
	}
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// Set sets a member to any value.
func (o Object) Set(name string, v any) { o[name] = Encode(v) }

// Encode prints v without needless escapes and white space, the members of objects sorted.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("null") // strings, numbers and what came out of a decoder can be printed
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Ordered prints the members of an object in the given order, the others after them, sorted.
func (o Object) Ordered(names ...string) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	member := func(name string, value json.RawMessage) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(Encode(name))
		b.WriteByte(':')
		b.Write(Encode(value))
	}
	for _, name := range names {
		if value, ok := o[name]; ok {
			member(name, value)
		}
	}
	if rest := Encode(o.Without(names...)); len(rest) > 2 {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(rest[1 : len(rest)-1])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Same reports whether two pieces of JSON say the same.
func Same(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	return reflect.DeepEqual(decodeAny(a), decodeAny(b))
}

func decodeAny(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// Canonical prints JSON in one spelling: no white space, the members of every object sorted, numbers as they were written.
func Canonical(raw json.RawMessage) json.RawMessage { return Encode(decodeAny(raw)) }

// Derive makes a name of n hexadecimal digits, at most 64, from what makes something what it is.
func Derive(n int, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(Encode(p))
	}
	return hex.EncodeToString(h.Sum(nil))[:n]
}

// UUID makes a name in the form of a version 8 UUID from what makes something what it is.
func UUID(parts ...string) string {
	d := []byte(Derive(32, parts...))
	d[12], d[16] = '8', '8'
	return string(d[:8]) + "-" + string(d[8:12]) + "-" + string(d[12:16]) + "-" + string(d[16:20]) + "-" + string(d[20:])
}

// IsUUID reports whether s has the form of a UUID in lower case.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Fit makes a name that a header can hold of whatever a transcript has: what is too long, or no name, is replaced by a digest.
func Fit(s string) string {
	if s == "" {
		return ""
	}
	if _, err := format.EncodeName(s); err == nil {
		return s
	}
	sum := format.Sum([]byte(s))
	return "sha256:" + sum.Short(32)
}

// stampLayout is how agents that run on JavaScript write a time.
const stampLayout = "2006-01-02T15:04:05.000Z"

// Stamp prints a time as agents write it.
func Stamp(t time.Time) string {
	if t.IsZero() {
		t = time.Unix(0, 0)
	}
	return t.UTC().Format(stampLayout)
}

// ParseTime reads a time as agents write it. exact is false where Stamp would not print it the same.
func ParseTime(s string) (t time.Time, exact bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}, false
	}
	t = t.UTC().Truncate(time.Millisecond)
	return t, !t.IsZero() && Stamp(t) == s
}
