package format

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// Checkpoint holds all refs as they were after one operation, and the place where the log
// continues. docs/format/checkpoint.md describes its file.
type Checkpoint struct {
	Store   string // the store's id, 32 hexadecimal digits
	Number  uint64 // the last operation that is included; 0 in a new store
	Digest  ID     // the digest of that operation; zero in a new store
	Segment uint64 // the log segment that holds the next operation
	Offset  uint64 // the byte of the segment at which that operation starts
	Refs    []Ref  // sorted by Name
}

// Ref is a name and its value.
type Ref struct {
	Name  string
	Value Value
}

const checkpointVersion = 1

// Encode returns the checkpoint file, including its checksum line.
func (c *Checkpoint) Encode() ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return c.encode()
}

// refSize is about what the line of a ref takes.
const refSize = 200

// encode is Encode for a checkpoint that has passed check.
func (c *Checkpoint) encode() ([]byte, error) {
	head, err := c.encodeHead()
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, len(head)+refSize*(len(c.Refs)+1)), head...)
	for _, r := range c.Refs {
		b = append(r.append(b), '\n')
	}
	return fmt.Appendf(b, "sum %x\n", sha256.Sum256(b)), nil
}

// encodeHead returns the lines before those of the refs.
func (c *Checkpoint) encodeHead() ([]byte, error) {
	return EncodeLines("checkpoint", checkpointVersion, c.lines)
}

func (c *Checkpoint) lines(l *Lines) {
	l.Must("store").Word(&c.Store)
	l.Must("operation").Number(&c.Number).IDOr(&c.Digest, noDigest)
	l.Must("log").Number(&c.Segment).Number(&c.Offset)
}

// noDigest is the digest of no operation.
var noDigest = strings.Repeat("0", IDLen)

// append appends the line of a ref, without the newline.
func (r *Ref) append(b []byte) []byte {
	b = append(append(b, "ref "...), encodeRefName(r.Name)...)
	return r.Value.append(append(b, ' '))
}

// encodeRefName percent-encodes each part of a ref name. The name has passed CheckRefName.
func encodeRefName(name string) string {
	if isPlainRef(name) {
		return name
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i], _ = EncodeName(p)
	}
	return strings.Join(parts, "/")
}

// decodeRefName decodes what encodeRefName returns. It may accept more: the caller encodes again,
// and compares.
func decodeRefName(s string) (string, error) {
	if isPlainRef(s) {
		return s, nil
	}
	parts := strings.Split(s, "/")
	for i, p := range parts {
		var err error
		if parts[i], err = DecodeName(p); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "/"), nil
}

// isPlainRef reports whether no byte of a ref name is encoded.
func isPlainRef(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

var errNotOneEncoding = errors.New("not the one encoding")

// DecodeCheckpoint reads a checkpoint file. A checksum mismatch is an ordinary error: the file is
// only ever replaced by an atomic rename, so a crash cannot leave half of one.
func DecodeCheckpoint(b []byte) (*Checkpoint, error) {
	const tail = len("sum ") + IDLen + 1
	if len(b) < tail {
		return nil, errors.New("checkpoint: cut short")
	}
	body, sum := b[:len(b)-tail], string(b[len(b)-tail:])
	if sum != fmt.Sprintf("sum %x\n", sha256.Sum256(body)) {
		return nil, errors.New("checkpoint: does not match its checksum")
	}
	k, v, err := HeaderKind(body)
	if err != nil || k != "checkpoint" {
		return nil, errors.New("checkpoint: not a checkpoint")
	}
	if v != checkpointVersion {
		return nil, &VersionError{What: "checkpoint", Got: v, Known: checkpointVersion}
	}
	if body[len(body)-1] != '\n' {
		return nil, errors.New("checkpoint: no newline at the end")
	}
	c, err := decodeCheckpointLines(string(body[:len(body)-1]))
	if err == nil {
		if head, bad := c.encodeHead(); bad != nil || !bytes.HasPrefix(body, head) {
			err = errNotOneEncoding
		}
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return c, nil
}

// decodeCheckpointLines reads what follows the first line of a text without the last newline.
func decodeCheckpointLines(text string) (*Checkpoint, error) {
	l := &Lines{text: text, left: true}
	l.next()
	c := &Checkpoint{}
	c.lines(l)
	if l.close(); l.err != nil {
		return nil, l.err
	}
	if l.left {
		c.Refs = make([]Ref, 0, 1+strings.Count(l.text, "\n"))
	}
	// A buffer for all lines: every command reads a checkpoint, and it can be large
	var again []byte
	for l.left {
		line := l.next()
		rest, isRef := strings.CutPrefix(line, "ref ")
		encoded, value, whole := strings.Cut(rest, " ")
		if !isRef || !whole {
			return nil, fmt.Errorf("unknown line: %.80q", line)
		}
		v, err := parseValue(value)
		if err != nil {
			return nil, err
		}
		name, err := decodeRefName(encoded)
		if err != nil {
			return nil, err
		}
		ref := Ref{Name: name, Value: v}
		if again = ref.append(again[:0]); string(again) != line {
			return nil, errNotOneEncoding
		}
		c.Refs = append(c.Refs, ref)
	}
	return c, c.check()
}

func (c *Checkpoint) check() error {
	if !IsStoreID(c.Store) {
		return fmt.Errorf("not a store id: %.40q", c.Store)
	}
	if (c.Number == 0) != c.Digest.IsZero() {
		return errors.New("operation and digest do not agree")
	}
	for i, r := range c.Refs {
		if err := CheckRefName(r.Name); err != nil {
			return err
		}
		if i > 0 && r.Name <= c.Refs[i-1].Name {
			return errors.New("refs are not in ascending order")
		}
		if !r.Value.Exists() {
			return fmt.Errorf("ref %s has no value", r.Name)
		}
		if err := r.Value.check(); err != nil {
			return err
		}
	}
	return nil
}

// IsStoreID reports whether s is the random name of a store: 32 lower-case hexadecimal digits.
func IsStoreID(s string) bool { return len(s) == 32 && isLowerHex(s) }
