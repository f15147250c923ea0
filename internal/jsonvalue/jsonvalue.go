// Package jsonvalue reads JSON values without decoding what is in them, and writes values as JSON.
// It accepts what encoding/json accepts: names that occur twice, and strings that are not UTF-8.
package jsonvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	// ErrNotObject says that a value is not one JSON object.
	ErrNotObject = errors.New("not a JSON object")
	// ErrNotArray says that a value is not one JSON array.
	ErrNotArray = errors.New("not a JSON array")
	// ErrNotValue says that a text is not one JSON value.
	ErrNotValue = errors.New("not one JSON value")
)

// Member is a member of a JSON object.
type Member struct {
	Name  string          // decoded; bytes that are not UTF-8 stay if it has no escapes
	Value json.RawMessage // as it was written, without the white space around it
}

// Members returns the members of an object in their order. Each value shares its memory with
// object. The error is ErrNotObject.
func Members(object []byte) ([]Member, error) {
	return members(scanner{in: object}, make([]Member, 0, 8))
}

// MembersWithin is Members for part of a value that was read before: strings are not checked again,
// which takes most of the time.
func MembersWithin(object []byte) ([]Member, error) {
	return members(scanner{in: object, checked: true}, make([]Member, 0, 8))
}

// members appends the members of an object to list.
func members(object scanner, list []Member) ([]Member, error) {
	ok := object.each('{', func(name, value []byte) {
		m := Member{Name: string(name[1 : len(name)-1]), Value: value}
		if strings.IndexByte(m.Name, '\\') >= 0 {
			m.Name, _ = Text(name)
		}
		list = append(list, m)
	})
	if !ok {
		return nil, ErrNotObject
	}
	return list, nil
}

// Elements returns the elements of an array. Each shares its memory with array. The error is
// ErrNotArray.
func Elements(array []byte) ([]json.RawMessage, error) {
	return elements(scanner{in: array})
}

// ElementsWithin is Elements for part of a value that was read before, as MembersWithin.
func ElementsWithin(array []byte) ([]json.RawMessage, error) {
	return elements(scanner{in: array, checked: true})
}

func elements(array scanner) ([]json.RawMessage, error) {
	list := []json.RawMessage{}
	if !array.each('[', func(_, value []byte) { list = append(list, value) }) {
		return nil, ErrNotArray
	}
	return list, nil
}

// each calls item with each element or member of the text, which is one array or object: open is
// its bracket. It returns false for anything else, after the items before the place of the fault.
func (s *scanner) each(open byte, item func(name, value []byte)) bool {
	in := s.in
	i := s.space(0)
	if i >= len(in) || in[i] != open {
		return false
	}
	if i = s.space(i + 1); i < len(in) && in[i] == open+2 {
		return s.space(i+1) == len(in)
	}
	for more := true; more; {
		var name []byte
		if open == '{' {
			start := i
			if i = s.name(i); i < 0 {
				return false
			}
			name = in[start : bytes.LastIndexByte(in[start:i], '"')+start+1]
		}
		start := s.space(i)
		if i = s.skip(start, 1); i < 0 {
			return false
		}
		item(name, in[start:i:i])
		if i = s.space(i); i == len(in) || in[i] != ',' && in[i] != open+2 {
			return false
		}
		more = in[i] == ','
		i = s.space(i + 1)
	}
	return i == len(in)
}

// Rewrite returns a value with change applied to each of its strings, names of members included,
// and to each number and literal, if it is one value. It ends with the first error of change.
func Rewrite(value []byte, change func(scalar []byte) ([]byte, error)) ([]byte, error) {
	var out []byte
	copied := 0
	tokens := ReadTokens(value)
	if !tokens.Valid() {
		return nil, ErrNotValue
	}
	for tokens.Peek() != 0 {
		start, end := tokens.Next()
		if strings.IndexByte("{}[]", value[start]) >= 0 {
			continue
		}
		changed, err := change(value[start:end:end])
		if err != nil {
			return nil, err
		}
		out = append(append(out, value[copied:start]...), changed...)
		copied = end
	}
	return append(out, value[copied:]...), nil
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
	if said, err := jsontext.AppendUnquote(nil, value); err == nil {
		return string(said), true
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
	s := scanner{in: value, checked: true}
	deepest, now := 0, 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			if i = s.text(i) - 1; i < 0 {
				return deepest // what follows is no JSON
			}
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// Texts calls fn for every string of JSON values, names of members included, and of those strings
// that are JSON themselves; for nothing where b is neither an array nor an object.
func Texts(b []byte, fn func(string)) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '[' && b[0] != '{' {
		return
	}
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		if text, ok := token.(string); ok {
			fn(text)
			Texts([]byte(text), fn)
		}
	}
}

// Exact decodes one JSON value, and nothing after it, into v. It refuses what is not Unicode, a
// member that is there twice, one that v does not have, and a value of another kind. An error says
// which it is, in a line.
func Exact(value []byte, v any) error {
	text := jsontext.NewDecoder(bytes.NewBuffer(value))
	err := text.SkipValue()
	var bad *jsontext.SyntacticError
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &bad):
		return fmt.Errorf("%.80q twice", bad.JSONPointer)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return errors.New("not JSON in Unicode: it ends too early")
	case errors.As(err, &bad):
		return fmt.Errorf("not JSON in Unicode from byte %d on", bad.ByteOffset)
	case err != nil:
		return errors.New("not JSON in Unicode")
	}
	if _, err := text.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	in := json.NewDecoder(bytes.NewReader(value))
	in.DisallowUnknownFields()
	err = in.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("%.40q in place of the object", wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: %.40q is of another kind",
			wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:], wrong.Value)
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
