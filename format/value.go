package format

import (
	"errors"
	"fmt"
	"strings"
)

// Value is what a ref holds. The zero Value is that of a ref that does not exist.
type Value struct {
	Kind ValueKind
	ID   ID // the object; of a session ref its tip
	// Of a session ref: members of the forest are the branch's messages up to seq Frontier; what is rendered is the forest Pin, and
	// verbatim every message after seq Through. Through is never past Frontier.
	Frontier uint64
	Pin      ID // zero before the first leave
	Through  uint64
	Name     string // of HEAD: a session
}

// ValueKind tells the forms of a ref's value apart.
type ValueKind byte

// The forms of a ref's value: none, an object, a branch of a session, a session's name.
const (
	NoValue      ValueKind = 0
	ObjectValue  ValueKind = 'o'
	SessionValue ValueKind = 's'
	NameValue    ValueKind = 'n'
)

// Exists reports whether the value is that of a ref that exists.
func (v Value) Exists() bool { return v.Kind != NoValue }

// String returns the value as the checkpoint has it: "object <id>", "session <tip> <frontier> <pin or -> <through>",
// "name <name>", or "" for no value.
func (v Value) String() string {
	switch v.Kind {
	case ObjectValue:
		return "object " + v.ID.String()
	case SessionValue:
		pin := "-"
		if !v.Pin.IsZero() {
			pin = v.Pin.String()
		}
		return fmt.Sprintf("session %s %d %s %d", v.ID, v.Frontier, pin, v.Through)
	case NameValue:
		enc, err := EncodeName(v.Name)
		if err != nil {
			return ""
		}
		return "name " + enc
	}
	return ""
}

// ParseValue reads what String wrote.
func ParseValue(s string) (Value, error) {
	f := strings.Split(s, " ")
	r := &headerReader{}
	var v Value
	switch {
	case len(f) == 2 && f[0] == "object":
		v = Value{Kind: ObjectValue, ID: r.id(f[1])}
	case len(f) == 5 && f[0] == "session":
		v = Value{Kind: SessionValue, ID: r.id(f[1]), Frontier: r.uint(f[2]), Through: r.uint(f[4])}
		if f[3] != "-" {
			v.Pin = r.id(f[3])
		}
	case len(f) == 2 && f[0] == "name":
		v = Value{Kind: NameValue, Name: r.name(f[1])}
	default:
		return Value{}, fmt.Errorf("not a ref value: %.120q", s)
	}
	if r.err == nil {
		r.err = v.check()
	}
	if r.err != nil {
		return Value{}, fmt.Errorf("not a ref value: %w", r.err)
	}
	return v, nil
}

func (v Value) check() error {
	switch v.Kind {
	case NoValue:
		if v != (Value{}) {
			return errors.New("no value, and yet one")
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

// CheckRefName says why s cannot name a ref: 1 to 400 bytes of UTF-8 in non-empty parts between slashes, none of them . or ..,
// without control characters or spaces at an end.
func CheckRefName(s string) error {
	if s == "" || len(s) > 400 {
		return fmt.Errorf("ref name has %d bytes, 1 to 400 belong", len(s))
	}
	for _, part := range strings.Split(s, "/") {
		if err := CheckName(part); err != nil {
			return err
		}
	}
	return nil
}

// CheckName says why s cannot name a session, a branch, or another part of a ref: it must be 1 to 200 bytes percent-encoded, UTF-8, not
// "." or "..", without slash, control characters, or a space at an end.
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

// isPlainName reports whether a name is of letters, digits and a few marks alone, and so needs no further look. Most are.
func isPlainName(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > MaxName {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '/' || !isNameByte(c) {
			return false
		}
	}
	return true
}
