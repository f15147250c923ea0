// Package settings reads and edits an agent's settings, JSON with comments. An edit keeps what the
// user wrote byte for byte: comments, order and indentation. The package is pure: bytes in, bytes
// out.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// maxContainers is how many objects and arrays settings may have. The parser calls itself for each
// level, and a file that is nothing but brackets must not use up the stack.
const maxContainers = 20_000

// Standard returns settings as plain JSON: comments become white space. It accepts what the agent
// accepts, one JSON object with // and /* */ comments but without trailing commas. Errors say which
// line is wrong.
func Standard(b []byte) ([]byte, error) {
	v, err := parse(b)
	if err != nil {
		return nil, err
	}
	v.Standardize()
	return v.Pack(), nil
}

// parse is Standard for those who need the syntax tree. It shares no memory with b.
func parse(b []byte) (v hujson.Value, err error) {
	if bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) > maxContainers {
		return v, fmt.Errorf("line 1: more than %d objects and arrays", maxContainers)
	}
	// The parser wants a line feed after a // comment at the end of the file, too.
	text, added := bytes.Clone(b), 0
	if bytes.Contains(b[bytes.LastIndexByte(b, '\n')+1:], []byte("//")) {
		text, added = append(text, '\n'), 1
	}
	if v, err = hujson.Parse(text); err != nil {
		return v, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	v.AfterExtra = v.AfterExtra[:len(v.AfterExtra)-added]
	for in := range v.All() {
		list := children(in)
		if n := len(list); n > 0 && list[n-1].value.AfterExtra != nil { // only before a comma
			line := 1 + bytes.Count(b[:in.EndOffset], []byte("\n"))
			return v, fmt.Errorf("line %d: a %s is missing", line, childName(in))
		}
	}
	if v.Value.Kind() != '{' {
		return v, errors.New("line 1: not an object")
	}
	return v, nil
}

func childName(v *hujson.Value) string {
	if v.Value.Kind() == '{' {
		return "key"
	}
	return "value"
}

// child is a member of an object, or an element of an array.
type child struct {
	head  *hujson.Value // the key of a member; the element itself
	value *hujson.Value
}

// children returns what is in an object or an array: nothing for any other value and for nil.
func children(v *hujson.Value) (list []child) {
	if v == nil {
		return nil
	}
	switch in := v.Value.(type) {
	case *hujson.Object:
		for i := range in.Members {
			list = append(list, child{&in.Members[i].Name, &in.Members[i].Value})
		}
	case *hujson.Array:
		for i := range in.Elements {
			list = append(list, child{&in.Elements[i], &in.Elements[i]})
		}
	}
	return list
}

// get returns the value of a key, nil where there is none. Of a key that is there twice the last
// one counts, as it does for the agent.
func get(v *hujson.Value, key string) *hujson.Value {
	if v == nil || v.Value.Kind() != '{' {
		return nil
	}
	for _, c := range slices.Backward(children(v)) {
		if text(c.head) == key {
			return c.value
		}
	}
	return nil
}

// text returns the string that a value is, "" for any other value and for nil.
func text(v *hujson.Value) string {
	if v == nil || v.Value.Kind() != '"' {
		return ""
	}
	return v.Value.(hujson.Literal).String()
}
