package terms

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxDecode is the most terms that DecodeBag accepts: far above any limit in use, and 1 MiB in memory.
const maxDecode = 1 << 16

// AppendBag appends the binary form of b to dst and returns it: the number of terms as uvarint, then for each term its
// distance to the one before (to zero for the first) in 8 bytes, big endian, and its count as uvarint. Terms are hashes, so
// their distances are as long as they are and a varint would only cost. A bag of n terms takes some 9n bytes.
func AppendBag(dst []byte, b Bag) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	last := uint64(0)
	for _, c := range b {
		dst = binary.BigEndian.AppendUint64(dst, c.Term-last)
		dst = binary.AppendUvarint(dst, uint64(c.N))
		last = c.Term
	}
	return dst
}

// DecodeBag reads a bag from the front of src and returns it with what follows it. It accepts what AppendBag writes and
// nothing else: an error says that src is cut short, that terms are not in ascending order, that a count is zero or too
// large, that a number is not in its shortest form, or that there are more terms than any bag has. It allocates no more
// than a small multiple of len(src).
func DecodeBag(src []byte) (b Bag, rest []byte, err error) {
	n, src, err := uvarint(src)
	if err != nil {
		return nil, nil, fmt.Errorf("bag of terms: %w", err)
	}
	if n > maxDecode || n > uint64(len(src)/9) {
		return nil, nil, fmt.Errorf("bag of terms: %d terms in %d bytes", n, len(src))
	}
	if n == 0 {
		return nil, src, nil
	}
	b = make(Bag, n)
	last := uint64(0)
	for i := range b {
		if b[i], src, err = decodeCount(src, last, i == 0); err != nil {
			return nil, nil, fmt.Errorf("bag of terms: term %d: %w", i, err)
		}
		last = b[i].Term
	}
	return b, src, nil
}

func decodeCount(src []byte, last uint64, first bool) (Count, []byte, error) {
	if len(src) < 8 {
		return Count{}, nil, errShort
	}
	term := last + binary.BigEndian.Uint64(src)
	if term <= last && !(first && term == 0) {
		return Count{}, nil, errors.New("not in ascending order")
	}
	n, src, err := uvarint(src[8:])
	if err != nil {
		return Count{}, nil, err
	}
	if n == 0 || n > 1<<32-1 {
		return Count{}, nil, fmt.Errorf("bad count: %d", n)
	}
	return Count{Term: term, N: uint32(n)}, src, nil
}

var errShort = errors.New("cut short")

// uvarint reads a number in its shortest form.
func uvarint(src []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(src)
	if size <= 0 {
		return 0, nil, errShort
	}
	if size > 1 && src[size-1] == 0 {
		return 0, nil, errors.New("number not in its shortest form")
	}
	return n, src[size:], nil
}
