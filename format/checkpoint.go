package format

import (
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
	b, err := encode("checkpoint", checkpointVersion, c)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(b, "sum %x\n", sha256.Sum256(b)), nil
}

func (c *Checkpoint) lines(l *Lines) {
	l.Must("store").Word(&c.Store)
	l.Must("operation").Number(&c.Number).IDOr(&c.Digest, noDigest)
	l.Must("log").Number(&c.Segment).Number(&c.Offset)
	Each(l, "ref", &c.Refs, func(l *Lines, r *Ref) *Lines {
		return r.Value.fields(l.refName(&r.Name))
	})
}

// noDigest is the digest of no operation.
const noDigest = "00000000000000000000000000000000" +
	"00000000000000000000000000000000"

// refName codes the name of a ref, each part percent-encoded.
func (c *Lines) refName(name *string) *Lines {
	if c.space() {
		text := *name
		if !isPlainRef(text) {
			parts := strings.Split(text, "/")
			for i, p := range parts {
				parts[i], _ = EncodeName(p) // the name has passed CheckRefName
			}
			text = strings.Join(parts, "/")
		}
		c.out = append(c.out, text...)
		return c
	}
	text, _ := c.field()
	if *name = text; !isPlainRef(text) {
		parts := strings.Split(text, "/")
		for i, p := range parts {
			parts[i] = c.name(p)
		}
		*name = strings.Join(parts, "/")
	}
	return c
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

// DecodeCheckpoint reads a checkpoint file. A checksum mismatch is an ordinary error: the file is
// only ever replaced by an atomic rename, so a crash cannot leave half of one.
func DecodeCheckpoint(b []byte) (*Checkpoint, error) {
	body, err := cutSum(b, "sum ")
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return decode(body, "checkpoint", checkpointVersion, &Checkpoint{})
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
