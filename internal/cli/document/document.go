// Package document has the JSON documents that programs read: those of the commands of ctx with
// --json, and those of ctx-mcp. It gives every document its version and decides how ids, times and
// absent values look in JSON. docs/json.md explains each key.
package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/view"
)

// Encode returns a document of the current version as one line of JSON, without the line end. Its
// first key is "v", the version. The fields that follow are pairs of a key and a value, as in
//
//	Encode("session", name, "messages", 3)
//
// or values that are JSON objects, whose members become members of the document. In a pair a time
// has the form of TimeText, and a nil slice is an empty list.
func Encode(fields ...any) ([]byte, error) {
	out := []byte(`{"v":1`)
	for i := 0; i < len(fields); i++ {
		key, pair := fields[i].(string)
		if !pair {
			b, err := Marshal(fields[i])
			if err != nil {
				return nil, err
			}
			if len(b) > len("{}") {
				out = append(append(out, ','), b[1:len(b)-1]...)
			}
			continue
		}
		if i++; i == len(fields) {
			return nil, fmt.Errorf("document: no value for the key %q", key)
		}
		b, err := Marshal(plain(fields[i]))
		if err != nil {
			return nil, err
		}
		out = append(fmt.Appendf(out, `,"%s":`, key), b...)
	}
	return append(out, '}'), nil
}

// plain returns the value of a pair in the form for encoding/json.
func plain(value any) any {
	if t, ok := value.(time.Time); ok {
		return TimeText(t)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice && v.IsNil() &&
		v.Type().Elem().Kind() != reflect.Uint8 {
		return []struct{}{}
	}
	return value
}

// Marshal returns a value as JSON, without HTML escapes and without a line end.
func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Nested is a document with its own version inside another document.
type Nested[T any] struct{ Document T }

// MarshalJSON implements json.Marshaler.
func (n Nested[T]) MarshalJSON() ([]byte, error) { return Encode(n.Document) }

// OrNull returns a pointer to a value, and nil, which is null in JSON, for the zero value.
func OrNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// IDText returns the digits of an id, and nil for the zero id.
func IDText(id format.ID) *string {
	if id.IsZero() {
		return nil
	}
	text := id.String()
	return &text
}

// TimeText formats a time for all output: RFC 3339, UTC, milliseconds.
func TimeText(t time.Time) string { return format.FormatTime(t) }

// Dropped lists in one line how many items of each kind a rendering left out.
func Dropped(drops []view.Drop) string {
	var said []string
	for _, d := range drops {
		what := string(d.Kind)
		if d.Count != 1 && d.Kind != view.DropShortened {
			what += "s"
		}
		said = append(said, fmt.Sprintf("%d %s", d.Count, what))
	}
	return strings.Join(said, ", ")
}
