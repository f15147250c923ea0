package score

import (
	"encoding/binary"
	"errors"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// Append appends the encoded features to dst: 100 to 300 bytes for a usual message, less than 2 KiB
// for any.
func (f Features) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, f.conv)
	dst = binary.BigEndian.AppendUint32(dst, f.author)
	dst = append(dst, byte(f.role), byte(f.flags))
	dst = binary.AppendVarint(dst, f.time)
	dst = binary.AppendUvarint(dst, uint64(f.words))
	dst = appendKeys(dst, f.to)
	dst = appendKeys(dst, f.names)
	return appendBag(dst, f.terms)
}

// DecodeFeatures decodes features at the front of b and returns them with the bytes after them. It
// accepts only the output of Append.
func DecodeFeatures(b []byte) (Features, []byte, error) {
	r := reader{varint.Reader{Rest: b}}
	f := Features{conv: r.Uint64(), author: r.Uint32(), role: role(r.max(uint64(tool))),
		flags: flags(r.max(allFlags)), time: r.Varint()}
	f.words = uint16(r.max(maxCount))
	f.to = r.keys(maxTo)
	f.names = r.keys(maxNames)
	f.terms = r.bag(maxTerms)
	if r.Err != nil {
		return Features{}, nil, errFeatures
	}
	return f, r.Rest, nil
}

var errFeatures = errors.New("features of a message: damaged")

func appendKeys(dst []byte, keys []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(keys)))
	for _, k := range keys {
		dst = binary.BigEndian.AppendUint32(dst, k)
	}
	return dst
}

func appendBag(dst []byte, b bag) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	last := uint32(0)
	for _, c := range b {
		dst = binary.AppendUvarint(dst, uint64(c.key-last))
		dst = binary.AppendUvarint(dst, uint64(c.n))
		last = c.key
	}
	return dst
}

// reader decodes features and candidates. A value that Append does not write makes it fail.
type reader struct{ varint.Reader }

var errDamaged = errors.New("damaged")

// want makes the reader fail unless ok.
func (r *reader) want(ok bool) {
	if !ok {
		r.Fail(errDamaged)
	}
}

// max reads a number from 0 to limit.
func (r *reader) max(limit uint64) uint64 {
	n := r.Uvarint()
	if n > limit {
		r.Fail(errDamaged)
		return 0
	}
	return n
}

// keys reads at most limit keys.
func (r *reader) keys(limit int) []uint32 {
	n := int(r.max(uint64(limit)))
	if r.want(4*n <= len(r.Rest)); n == 0 || r.Err != nil {
		return nil
	}
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = r.Uint32()
	}
	return keys
}

// bag reads a bag of at most limit terms.
func (r *reader) bag(limit int) bag {
	n := int(r.max(uint64(limit)))
	if r.want(2*n <= len(r.Rest)); n == 0 || r.Err != nil {
		return nil
	}
	b := make(bag, n)
	last := uint64(0)
	for i := range b {
		last += r.max(1<<32 - 1)
		b[i] = count{key: uint32(last), n: uint16(r.max(maxCount))}
		r.want(last <= 1<<32-1 && b[i].n > 0 && (i == 0 || b[i].key > b[i-1].key))
	}
	return b
}
