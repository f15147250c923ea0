// Package jsonvalue reads JSON values without decoding what is in them, and writes values as JSON.
// It accepts what encoding/json accepts: names that occur twice, and strings that are not UTF-8.
package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	// ErrNotObject says that a value is not one JSON object.
	ErrNotObject = errors.New("not a JSON object")
	// ErrNotArray says that a value is not one JSON array.
	ErrNotArray = errors.New("not a JSON array")
)

// Member is a member of a JSON object.
type Member struct {
	Name  string          // decoded; bytes that are not UTF-8 stay if it has no escapes
	Value json.RawMessage // as it was written, without the white space around it
}

// decoders keeps decoders that are free: most values are short, and a decoder takes longer to make
// than to use.
var decoders sync.Pool

// NewDecoder returns a decoder that reads in without a copy. Free may take it back.
func NewDecoder(in []byte) *jsontext.Decoder {
	d, ok := decoders.Get().(*jsontext.Decoder)
	if !ok {
		d = new(jsontext.Decoder)
	}
	d.Reset(bytes.NewBuffer(in), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	return d
}

// Free takes a decoder back that NewDecoder returned. The caller does not use it any more.
func Free(d *jsontext.Decoder) {
	d.Reset(bytes.NewBuffer(nil)) // lets go of the input
	decoders.Put(d)
}

// Members returns the members of an object in their order. Each value shares its memory with
// object. The error is ErrNotObject.
func Members(object []byte) ([]Member, error) {
	return members(object, make([]Member, 0, 8))
}

// members appends the members of an object to list.
func members(object []byte, list []Member) ([]Member, error) {
	s := scanner{in: object}
	i := s.space(0)
	if i >= len(object) || object[i] != '{' {
		return nil, ErrNotObject
	}
	if i = s.space(i + 1); i < len(object) && object[i] == '}' {
		if s.space(i+1) < len(object) {
			return nil, ErrNotObject
		}
		return list, nil
	}
	for {
		start := i
		if i >= len(object) || object[i] != '"' {
			return nil, ErrNotObject
		}
		if i = s.text(i); i < 0 {
			return nil, ErrNotObject
		}
		name := object[start:i]
		m := Member{Name: string(name[1 : len(name)-1])}
		if strings.IndexByte(m.Name, '\\') >= 0 {
			m.Name, _ = Text(name)
		}
		if i = s.space(i); i >= len(object) || object[i] != ':' {
			return nil, ErrNotObject
		}
		start = s.space(i + 1)
		if i = s.skip(start, 1); i < 0 {
			return nil, ErrNotObject
		}
		m.Value = object[start:i:i]
		list = append(list, m)
		var more bool
		i, more = s.goesOn(i, '}')
		switch {
		case i < 0:
			return nil, ErrNotObject
		case !more:
			return list, nil
		}
	}
}

// Elements returns the elements of an array. Each shares its memory with array. The error is
// ErrNotArray.
func Elements(array []byte) ([]json.RawMessage, error) {
	s := scanner{in: array}
	i := s.space(0)
	if i >= len(array) || array[i] != '[' {
		return nil, ErrNotArray
	}
	list := []json.RawMessage{}
	if i = s.space(i + 1); i < len(array) && array[i] == ']' {
		if s.space(i+1) < len(array) {
			return nil, ErrNotArray
		}
		return list, nil
	}
	for {
		start := i
		if i = s.skip(start, 1); i < 0 {
			return nil, ErrNotArray
		}
		list = append(list, array[start:i:i])
		var more bool
		i, more = s.goesOn(i, ']')
		switch {
		case i < 0:
			return nil, ErrNotArray
		case !more:
			return list, nil
		}
	}
}

// Next reads the next value from a decoder of in, and returns it as a slice of in, which stays
// valid.
func Next(d *jsontext.Decoder, in []byte) (json.RawMessage, error) {
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(d.InputOffset())
	return in[end-len(v) : end : end], nil
}

// Rewrite returns a value with change applied to each of its strings, names of members included,
// and to each number and literal. It ends with the first error, of change or of the value.
func Rewrite(value []byte, change func(scalar []byte) ([]byte, error)) ([]byte, error) {
	d := NewDecoder(value)
	defer Free(d)
	var out []byte
	copied := 0
	for {
		switch d.PeekKind() {
		case '{', '}', '[', ']':
			if _, err := d.ReadToken(); err != nil {
				return nil, err
			}
			continue
		}
		scalar, err := Next(d, value)
		if err == io.EOF {
			return append(out, value[copied:]...), nil
		}
		if err != nil {
			return nil, err
		}
		changed, err := change(scalar)
		if err != nil {
			return nil, err
		}
		end := int(d.InputOffset())
		out = append(append(out, value[copied:end-len(scalar)]...), changed...)
		copied = end
	}
}

// Text returns what a JSON string says; ok is false for any other JSON. U+FFFD stands for each byte
// that is not UTF-8, and for half of a surrogate pair.
func Text(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	in := value[1 : len(value)-1]
	valid := utf8.Valid(in)
	switch escape := bytes.IndexByte(in, '\\'); {
	case valid && escape < 0:
		return string(in), true
	case valid && (&scanner{in: value}).text(0) == len(value):
		return unescaped(in, escape), true
	}
	return s, json.Unmarshal(value, &s) == nil
}

// Compact returns a value without the white space between its tokens. What is not JSON is returned
// as it is.
func Compact(value []byte) json.RawMessage {
	if out, ok := appendCompact(make([]byte, 0, len(value)), value); ok {
		return out
	}
	return value
}

// Depth returns how deep arrays and objects are nested in a value.
func Depth(value []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
		if quoted {
			if i = plainTo(value, i); i == len(value) {
				break
			}
		}
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
