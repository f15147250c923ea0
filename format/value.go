package format

import (
	"errors"
	"fmt"
	"strings"
)

// Value is the value of a ref. The zero Value is that of a ref that does not exist.
type Value struct {
	Kind ValueKind
	ID   ID // the object; of a session ref, the tip of the branch
	// The fields of a session ref. The branch's messages up to seq Frontier are members of the
	// forest. The branch is rendered as the forest Pin followed by every message after seq Through.
	// Through is at most Frontier.
	Frontier uint64
	Pin      ID // zero before the first leave
	Through  uint64
	Name     string // of HEAD: the name of a session
}

// ValueKind distinguishes the forms of a ref's value.
type ValueKind byte

// The forms of a ref's value: none, an object, a branch of a session, the name of a session.
const (
	NoValue      ValueKind = 0
	ObjectValue  ValueKind = 'o'
	SessionValue ValueKind = 's'
	NameValue    ValueKind = 'n'
)

// Exists reports whether the value is that of an existing ref.
func (v Value) Exists() bool { return v.Kind != NoValue }

// String returns the value in the form that a checkpoint has: "object <id>", "session <tip>
// <frontier> <pin or -> <through>", "name <name>", or "" for no value.
func (v Value) String() string {
	if !v.Exists() {
		return ""
	}
	l := &Lines{writes: true, open: true}
	v.fields(l)
	return string(l.out[1:])
}

// fields codes what String returns.
func (v *Value) fields(c *Lines) *Lines {
	word := ""
	for _, k := range valueKinds {
		if k.kind == v.Kind {
			word = k.word
		}
	}
	if c.Word(&word); !c.writes {
		for _, k := range valueKinds {
			if k.word == word {
				v.Kind = k.kind
			}
		}
	}
	switch v.Kind {
	case ObjectValue:
		c.ID(&v.ID)
	case SessionValue:
		c.ID(&v.ID).Number(&v.Frontier).IDOr(&v.Pin, "-").Number(&v.Through)
	case NameValue:
		c.Name(&v.Name)
	default:
		c.Fail(fmt.Errorf("not a ref value: %.120q", word))
	}
	return c
}

var valueKinds = [...]struct {
	kind ValueKind
	word string
}{{ObjectValue, "object"}, {SessionValue, "session"}, {NameValue, "name"}}

func (v Value) check() error {
	switch v.Kind {
	case NoValue:
		if v != (Value{}) {
			return errors.New("a value without a kind has other fields")
		}
	case ObjectValue:
		if v.ID.IsZero() || v != (Value{Kind: v.Kind, ID: v.ID}) {
			return errors.New("an object value holds one id")
		}
	case SessionValue:
		if v.ID.IsZero() || v.Name != "" || v.Through > v.Frontier {
			return errors.New("a session value holds a tip, and through is not past frontier")
		}
	case NameValue:
		if v != (Value{Kind: v.Kind, Name: v.Name}) {
			return errors.New("a name value holds one name")
		}
		return CheckName(v.Name)
	default:
		return fmt.Errorf("unknown kind of value: %d", v.Kind)
	}
	return nil
}

// CheckRefName returns an error if s cannot name a ref. A ref name has 1 to 400 bytes, in parts
// between slashes; each part passes CheckName.
func CheckRefName(s string) error {
	if s == "" || len(s) > 400 {
		return fmt.Errorf("ref name has %d bytes, not 1 to 400", len(s))
	}
	for part := range strings.SplitSeq(s, "/") {
		if err := CheckName(part); err != nil {
			return err
		}
	}
	return nil
}

// CheckName returns an error if s cannot name a session, a branch, or another part of a ref. A name
// is UTF-8, takes 1 to 200 bytes percent-encoded, is neither "." nor "..", and has no slash, no
// control character, and no space at either end.
func CheckName(s string) error {
	if isPlainName(s) {
		return nil
	}
	switch {
	case s == "":
		return errors.New("name is empty")
	case s == "." || s == "..":
		return fmt.Errorf("name is %q", s)
	case strings.TrimSpace(s) != s:
		return errors.New("name starts or ends with a space")
	case strings.Contains(s, "/"):
		return errors.New("name holds a slash")
	}
	for _, r := range s {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return errors.New("name holds a control character")
		}
	}
	if _, err := EncodeName(s); err != nil {
		return err
	}
	return nil
}

// isPlainName reports whether a name consists only of letters, digits and a few marks, and so
// passes CheckName without a closer look. Most names do.
func isPlainName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= MaxName && isPlainRef(s) &&
		strings.IndexByte(s, '/') < 0
}
