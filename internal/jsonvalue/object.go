package jsonvalue

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
)

// Object is a JSON object whose values are not decoded, and are JSON. Its names are compared byte
// for byte.
type Object map[string]json.RawMessage

// ParseObject reads an object. Of several members with one name the last counts. ok is false for
// any other JSON. The values share their memory with object.
func ParseObject(object []byte) (o Object, ok bool) {
	o = read(scanner{in: object})
	return o, o != nil
}

// AsObject is ParseObject for part of a value that was read before: strings are not checked again.
// It returns nil for any other JSON.
func AsObject(object []byte) Object { return read(scanner{in: object, checked: true}) }

func read(object scanner) Object {
	var few [24]Member
	list, err := members(object, few[:0])
	if err != nil {
		return nil
	}
	o := make(Object, len(list))
	for _, m := range list {
		o[m.Name] = m.Value
	}
	return o
}

// NewObject returns an object with pairs of a name and a value. Encode writes each value, but a
// json.RawMessage is taken as it is.
func NewObject(pairs ...any) Object {
	o := make(Object, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		o.Set(name, pairs[i+1])
	}
	return o
}

// Set sets a member as NewObject does.
func (o Object) Set(name string, v any) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		raw = Encode(v)
	}
	o[name] = raw
}

// Text returns the string at name, or "".
func (o Object) Text(name string) string {
	s, _ := Text(o[name])
	return s
}

// True reports whether the value at name is true.
func (o Object) True(name string) bool { return string(o[name]) == "true" }

// Object returns the object at name; nil if there is none.
func (o Object) Object(name string) Object { return AsObject(o[name]) }

// Array returns the elements at name; ok is false if there is no array.
func (o Object) Array(name string) (list []json.RawMessage, ok bool) {
	list, err := ElementsWithin(o[name])
	return list, err == nil
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

// Without returns a copy of o without some members.
func (o Object) Without(names ...string) Object {
	out := make(Object, len(o)+4)
	maps.Copy(out, o)
	for _, name := range names {
		delete(out, name)
	}
	return out
}

// Ordered writes an object with the named members first, in that order, and the others after them,
// sorted by name.
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

// Array writes an array of values; an empty one for nil.
func Array(list []json.RawMessage) json.RawMessage {
	if list == nil {
		list = []json.RawMessage{}
	}
	return Encode(list)
}

// Decode decodes a value, with each number as a json.Number. It returns nil for what is not JSON.
func Decode(value []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// Same reports whether two values are equal but for white space, the order of members and escapes.
func Same(a, b []byte) bool {
	return bytes.Equal(a, b) || reflect.DeepEqual(Decode(a), Decode(b))
}
