package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ID identifies an object: it is the SHA-256 of the object's header. The zero ID names nothing.
type ID [sha256.Size]byte

// IDLen is the length of an id in text: 64 lower-case hexadecimal digits.
const IDLen = 2 * sha256.Size

// Sum returns the id of an object with the given header.
func Sum(header []byte) ID { return sha256.Sum256(header) }

// String returns the full id, 64 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Short returns the first n digits of the id for display, at least 4.
func (id ID) Short(n int) string { return id.String()[:max(4, min(n, IDLen))] }

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalJSON returns the full id as a JSON string, and null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + id.String() + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (id *ID) UnmarshalJSON(b []byte) error {
	*id = ID{}
	if string(b) == "null" {
		return nil
	}
	if n := len(b); n > 1 && b[0] == '"' {
		b = b[1 : n-1]
	}
	is, err := ParseID(string(b))
	if *id = is; err == nil && is.IsZero() {
		return fmt.Errorf("not an id: %.80q", b)
	}
	return err
}

// Compare orders ids by their bytes: -1, 0 or 1.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// ParseID reads a full id. It refuses upper-case digits, so that an id has only one textual form.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != IDLen {
		return ID{}, fmt.Errorf("not an id: %.80q", s)
	}
	for i := range id {
		hi, lo := digits[s[2*i]], digits[s[2*i+1]]
		if hi&lo&isDigit == 0 {
			return ID{}, fmt.Errorf("not an id: %.80q", s)
		}
		id[i] = hi<<4 | lo&0xf
	}
	return id, nil
}

// isDigit is set in digits for the lower-case hexadecimal digits, with their values.
const isDigit = 0x10

// digits is data, so that a start computes nothing.
var digits = [256]byte{
	'0': isDigit, '1': isDigit | 1, '2': isDigit | 2, '3': isDigit | 3, '4': isDigit | 4,
	'5': isDigit | 5,
	'6': isDigit | 6, '7': isDigit | 7, '8': isDigit | 8, '9': isDigit | 9, 'a': isDigit | 10,
	'b': isDigit | 11, 'c': isDigit | 12, 'd': isDigit | 13, 'e': isDigit | 14, 'f': isDigit | 15,
}

func isLowerHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if digits[s[i]] == 0 {
			return false
		}
	}
	return true
}
