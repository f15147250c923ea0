package unionfind

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// object is a JSON object that is taken apart key by key. Keys are matched exactly, none may come
// twice, and none may be left over at the end. The first error sticks.
type object struct {
	values map[string]json.RawMessage
	err    error
}

// openObject reads one JSON object without decoding its values.
func openObject(raw []byte) *object {
	o := &object{values: map[string]json.RawMessage{}}
	members, err := jsonvalue.Members(raw)
	if err != nil {
		o.err = errors.New("not an object")
	}
	for _, m := range members {
		if _, there := o.values[m.Name]; there {
			o.err = fmt.Errorf("key %.40q is there twice", m.Name)
			break
		}
		o.values[m.Name] = m.Value
	}
	return o
}

func (o *object) fail(key, why string) {
	if o.err == nil {
		o.err = fmt.Errorf("%s: %s", key, why)
	}
}

// take returns the value of a key that must be there.
func (o *object) take(key string) json.RawMessage {
	raw, there := o.maybe(key)
	if !there {
		o.fail(key, "missing")
	}
	return raw
}

// maybe returns the value of a key, if it is there.
func (o *object) maybe(key string) (json.RawMessage, bool) {
	raw, there := o.values[key]
	delete(o.values, key)
	return raw, there
}

// orNull returns the value of a key that must be there; ok is false where it is null.
func (o *object) orNull(key string) (raw json.RawMessage, ok bool) {
	raw = o.take(key)
	return raw, o.err == nil && string(raw) != "null"
}

// done returns the first error. A key that is left over is one.
func (o *object) done() error {
	if left := slices.Sorted(maps.Keys(o.values)); o.err == nil && len(left) > 0 {
		o.err = fmt.Errorf("unknown key: %.40q", left[0])
	}
	return o.err
}

func (o *object) string(key string, raw json.RawMessage) string {
	s, ok := jsonvalue.Text(raw)
	if !ok {
		o.fail(key, "not a string")
	}
	return s
}

func (o *object) text(key string) string { return o.string(key, o.take(key)) }

// optText returns the string at a key, "" where the key is not there.
func (o *object) optText(key string) string {
	raw, there := o.maybe(key)
	if !there {
		return ""
	}
	s := o.string(key, raw)
	if s == "" {
		o.fail(key, "an empty one is left out")
	}
	return s
}

func (o *object) bool(key string) bool {
	switch string(o.take(key)) {
	case "true":
		return true
	case "false":
	default:
		o.fail(key, "neither true nor false")
	}
	return false
}

// wholeNumber reads digits and nothing else: no sign, fraction or exponent.
func wholeNumber(raw json.RawMessage) (uint64, bool) {
	n, err := strconv.ParseUint(string(raw), 10, 64)
	return n, err == nil && strconv.FormatUint(n, 10) == string(raw)
}

func (o *object) number(key string, raw json.RawMessage) uint64 {
	n, ok := wholeNumber(raw)
	if !ok {
		o.fail(key, fmt.Sprintf("not a whole number: %.40q", raw))
	}
	return n
}

func (o *object) uint(key string) uint64 { return o.number(key, o.take(key)) }

// index reads an index of a list.
func (o *object) index(key string) int { return o.toIndex(key, o.take(key)) }

func (o *object) toIndex(key string, raw json.RawMessage) int {
	n := o.number(key, raw)
	if n > math.MaxInt32 {
		o.fail(key, fmt.Sprintf("out of range: %d", n))
		return 0
	}
	return int(n)
}

func (o *object) id(key string, raw json.RawMessage) format.ID {
	id, err := format.ParseID(o.string(key, raw))
	if err != nil || id.IsZero() {
		o.fail(key, fmt.Sprintf("not an id: %.80q", raw))
	}
	return id
}

func (o *object) stable(key string) format.ID { return o.id(key, o.take(key)) }

func (o *object) time(key string, raw json.RawMessage) time.Time {
	t, err := format.ParseTime(o.string(key, raw))
	if err != nil {
		o.fail(key, fmt.Sprintf("not a time: %.40q", raw))
	}
	return t
}

// moment reads operation and time, both of which may be null.
func (o *object) moment() (m Moment) {
	if raw, ok := o.orNull("operation"); ok {
		if m.Operation = o.number("operation", raw); m.Operation == 0 {
			o.fail("operation", "operations are numbered from 1")
		}
	}
	if raw, ok := o.orNull("time"); ok {
		m.Time = o.time("time", raw)
	}
	return m
}

// array returns the elements at a key.
func (o *object) array(key string, raw json.RawMessage) []json.RawMessage {
	list, err := jsonvalue.Elements(raw)
	if err != nil {
		o.fail(key, "not an array")
	}
	return list
}

func (o *object) indexes(key string) []int {
	raw := o.array(key, o.take(key))
	list := make([]int, len(raw))
	for i, r := range raw {
		list[i] = o.toIndex(key, r)
	}
	return list
}

func (o *object) ids(key string) []format.ID {
	raw := o.array(key, o.take(key))
	list := make([]format.ID, len(raw))
	for i, r := range raw {
		list[i] = o.id(key, r)
	}
	return list
}
