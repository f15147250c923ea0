package format

import (
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

// Compare orders ids by their bytes: -1, 0 or 1.
func (id ID) Compare(other ID) int {
	for i := range id {
		if id[i] != other[i] {
			if id[i] < other[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// ParseID reads a full id. It refuses upper-case digits, so that an id has only one textual form.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != IDLen || !isLowerHex(s) {
		return ID{}, fmt.Errorf("not an id: %.80q", s)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("not an id: %.80q", s)
	}
	return id, nil
}

func isLowerHex(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
