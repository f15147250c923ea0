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
	d.Reset(bytes.NewBuffer(in), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
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
	d := NewDecoder(object)
	defer Free(d)
	if d.PeekKind() != '{' {
		return nil, ErrNotObject
	}
	_, _ = d.ReadToken() // the bracket
	list := make([]Member, 0, 8)
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, ErrNotObject
		}
		m := Member{Name: string(name[1 : len(name)-1])}
		if strings.IndexByte(m.Name, '\\') >= 0 {
			m.Name, _ = Text(name)
		}
		if m.Value, err = Next(d, object); err != nil {
			return nil, ErrNotObject
		}
		list = append(list, m)
	}
	if !ends(d) {
		return nil, ErrNotObject
	}
	return list, nil
}

// Elements returns the elements of an array. Each shares its memory with array. The error is
// ErrNotArray.
func Elements(array []byte) ([]json.RawMessage, error) {
	d := NewDecoder(array)
	defer Free(d)
	if d.PeekKind() != '[' {
		return nil, ErrNotArray
	}
	_, _ = d.ReadToken() // the bracket
	list := []json.RawMessage{}
	for kind := d.PeekKind(); kind != ']' && kind != 0; kind = d.PeekKind() {
		value, err := Next(d, array)
		if err != nil {
			return nil, ErrNotArray
		}
		list = append(list, value)
	}
	if !ends(d) {
		return nil, ErrNotArray
	}
	return list, nil
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

// ends reports whether a closing bracket is next, and nothing follows it.
func ends(d *jsontext.Decoder) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	_, err := d.ReadToken()
	return err == io.EOF
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
	if in := value[1 : len(value)-1]; bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
		return string(in), true
	}
	return s, json.Unmarshal(value, &s) == nil
}

// Encode writes v on one line, with the members of maps sorted by name. Characters of HTML stay as
// they are. What cannot be JSON, such as a channel, is written as null.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Compact returns a value without the white space between its tokens. What is not JSON is returned
// as it is.
func Compact(value []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return value
	}
	return b.Bytes()
}

// Depth returns how deep arrays and objects are nested in a value.
func Depth(value []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(value); i++ {
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
