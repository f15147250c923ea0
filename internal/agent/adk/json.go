package adk

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// field is a member of a JSON object.
type field struct {
	Name  string
	Value json.RawMessage
}

// object is a JSON object as it was written: its members in order.
type object []field

// parseObject parses an object. Of members with the same name the last one counts, in the position
// of the first. ok is false for any other JSON.
func parseObject(raw []byte) (o object, ok bool) {
	members, err := jsonvalue.Members(raw)
	if err != nil {
		return nil, false
	}
	o = make(object, 0, len(members))
	if len(members) <= 64 { // faster than a map
		for _, m := range members {
			o = o.with(m.Name, m.Value)
		}
		return o, true
	}
	places := make(map[string]int, len(members))
	for _, m := range members {
		if i, twice := places[m.Name]; twice {
			o[i].Value = m.Value
			continue
		}
		places[m.Name] = len(o)
		o = append(o, field(m))
	}
	return o, true
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(f field) bool { return f.Name == name })
}

// get returns the value of a member; nil if it is absent or null.
func (o object) get(name string) json.RawMessage {
	if i := o.index(name); i >= 0 && string(o[i].Value) != "null" {
		return o[i].Value
	}
	return nil
}

// with sets a member where it is, or at the end.
func (o object) with(name string, value json.RawMessage) object {
	if i := o.index(name); i >= 0 {
		o[i].Value = value
		return o
	}
	return append(o, field{name, value})
}

// without returns a copy of o without some members.
func (o object) without(names ...string) object {
	return slices.DeleteFunc(slices.Clone(o),
		func(f field) bool { return slices.Contains(names, f.Name) })
}

func (o object) encode() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(jsonvalue.Encode(f.Name))
		b.WriteByte(':')
		b.Write(f.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// isEmpty reports whether raw is null, an empty array or an empty object, or absent.
func isEmpty(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "[]", "{}":
		return true
	}
	return false
}
