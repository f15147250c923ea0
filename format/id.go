package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
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

// IsUUID reports whether a word is a UUID in lower case: 8, 4, 4, 4 and 12 hexadecimal digits with
// hyphens between them.
func IsUUID[T string | []byte](word T) bool {
	if len(word) != 36 {
		return false
	}
	for i := range len(word) {
		c := word[i]
		digit := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (c == '-') || !hyphen && !digit {
			return false
		}
	}
	return true
}

// SourceKey returns the key by which an import finds an entry: the first 16 bytes of the SHA-256 of
// the agent, session and message id, which are the first three fields of the header's source line,
// joined by single spaces. The session is left out if the message id has a UUID in it: agents copy
// such messages from session to session. ok is false for a header without a source line.
func SourceKey(header []byte) (key [16]byte, ok bool) {
	_, rest, ok := bytes.Cut(header, []byte("\nsource "))
	if !ok {
		return key, false
	}
	line, _, ok := bytes.Cut(rest, []byte{'\n'})
	if !ok {
		return key, false
	}
	fields := bytes.SplitN(line, []byte{' '}, 4)
	if len(fields) < 3 || len(fields[0]) == 0 || len(fields[1]) == 0 || len(fields[2]) == 0 {
		return key, false
	}
	fields = fields[:3]
	if hasUUID(fields[2]) {
		fields = [][]byte{fields[0], fields[2]}
	}
	sum := sha256.Sum256(bytes.Join(fields, []byte{' '}))
	return [16]byte(sum[:16]), true
}

// hasUUID reports whether a message id is a UUID, or has one before or after a colon.
func hasUUID(id []byte) bool {
	for piece := range bytes.SplitSeq(id, []byte{':'}) {
		if IsUUID(piece) {
			return true
		}
	}
	return false
}

// SourceTag returns the part of a source key that a pack index keeps.
func SourceTag(key [16]byte) uint32 { return binary.BigEndian.Uint32(key[:]) }
