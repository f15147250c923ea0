package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// MaxPlain is the most plain bytes of a block: one record of the greatest size.
const MaxPlain = format.MaxRecord

// Block is what the payload of a block says before it is unpacked.
type Block struct {
	Plain  int       // bytes in the plain form
	Digest format.ID // SHA-256 of these bytes
	Raw    int       // bytes that Frame unpacks to
	Frame  []byte    // compressed
}

// maxRaw is the most bytes that a block of so many plain bytes unpacks to. A record that is stored
// as it is takes at most five bytes more.
func maxRaw(plain int) int { return plain + plain/8 + 64 }

// Payload encodes a block as the payload of a record.
func (b Block) Payload() []byte {
	p := binary.AppendUvarint([]byte{format.DensePayload}, uint64(b.Plain))
	p = append(p, b.Digest[:]...)
	p = binary.AppendUvarint(p, uint64(b.Raw))
	return append(p, b.Frame...)
}

// ParseBlock decodes the payload of a record as a block. Frame shares the memory of the payload.
func ParseBlock(payload []byte) (Block, error) {
	r := varint.Reader{Rest: payload}
	if v := r.Byte(); r.Err == nil && v != format.DensePayload {
		return Block{},
			&format.VersionError{What: "block of the log", Got: int(v), Known: format.DensePayload}
	}
	plain := r.Uvarint()
	var b Block
	copy(b.Digest[:], r.Take(sha256.Size))
	raw := r.Uvarint()
	switch {
	case r.Err != nil:
		return Block{}, fmt.Errorf("block of the log: %w", r.Err)
	case plain == 0 || plain > MaxPlain:
		return Block{}, fmt.Errorf("block of the log: %d plain bytes", plain)
	case raw == 0 || raw > uint64(maxRaw(int(plain))):
		return Block{}, fmt.Errorf("block of the log: %d bytes for %d plain ones", raw, plain)
	}
	b.Plain, b.Raw, b.Frame = int(plain), int(raw), r.Rest
	return b, nil
}

// Resolver finds objects. For each prefix it returns the ids that begin with it and that a reader
// may have meant: with first, at most the likeliest one, otherwise all. A prefix without an object
// has none, and that is no error.
type Resolver func(prefixes []Prefix, first bool) ([][]format.ID, error)

// maxTries is how many combinations of candidates a reader compares with the check of a group.
const maxTries = 1 << 16

// MissingError says that no object begins with a prefix that a block has.
type MissingError struct{ Prefix Prefix }

func (e *MissingError) Error() string {
	return fmt.Sprintf("names object %x…, which is in no pack", e.Prefix[:])
}

var errDigest = errors.New("is not what its digest says")

// Decode returns the plain bytes of a block. raw is what its frame unpacks to. Errors:
// *MissingError, what find returns, and others for a block that is damaged.
func (b Block) Decode(raw []byte, find Resolver) ([]byte, error) {
	c, err := split(raw)
	if err != nil {
		return nil, err
	}
	if idSize*len(c.prefixes)+len(c.literals) > b.Plain { // each is in the plain form
		return nil, errLong
	}
	if len(c.prefixes) == 0 {
		return b.join(c, nil)
	}
	var wrong error
	for _, first := range []bool{true, false} {
		found, err := find(c.prefixes, first)
		if err != nil {
			return nil, err
		}
		ids, err := choose(c, found)
		if err == nil {
			var plain []byte
			if plain, err = b.join(c, ids); err == nil {
				return plain, nil
			}
		}
		wrong = err
	}
	return nil, wrong
}

// choose returns the ids that the prefixes stand for. Where there are several candidates, the check
// of the group tells which are right.
func choose(c columns, found [][]format.ID) ([]format.ID, error) {
	if len(found) != len(c.prefixes) {
		return nil, errors.New("not every prefix was looked up")
	}
	ids := make([]format.ID, len(found))
	for i, list := range found {
		if len(list) == 0 {
			return nil, &MissingError{c.prefixes[i]}
		}
		ids[i] = list[0]
	}
	for n, sum := range c.checks {
		from, to := n*groupSize, min((n+1)*groupSize, len(ids))
		if !combine(ids[from:to], found[from:to], sum) {
			return nil, errDigest
		}
	}
	return ids, nil
}

// combine changes ids to the combination of candidates that has the check sum. It begins with the
// one that ids has, and gives up after maxTries.
func combine(ids []format.ID, found [][]format.ID, sum uint32) bool {
	choice := make([]int, len(ids))
	for range maxTries {
		if check(ids) == sum {
			return true
		}
		n := 0
		for ; n < len(ids); n++ {
			choice[n] = (choice[n] + 1) % len(found[n])
			ids[n] = found[n][choice[n]]
			if choice[n] > 0 {
				break
			}
		}
		if n == len(ids) {
			return false // that were all
		}
	}
	return false
}

// join puts a block together and proves it.
func (b Block) join(c columns, ids []format.ID) ([]byte, error) {
	plain, err := join(c, ids, b.Plain)
	if err == nil && (len(plain) != b.Plain || sha256.Sum256(plain) != b.Digest) {
		err = errDigest
	}
	if err != nil {
		return nil, err
	}
	return plain, nil
}
