package score

import (
	"encoding/binary"
	"errors"
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
	r := reader{b: b}
	f := Features{conv: r.fixed64(), author: r.fixed32(), role: role(r.max(uint64(tool))), flags: flags(r.max(allFlags)), time: r.signed()}
	f.words = uint16(r.max(maxCount))
	f.to = r.keys(maxTo)
	f.names = r.keys(maxNames)
	f.terms = r.bag(maxTerms)
	if r.bad {
		return Features{}, nil, errFeatures
	}
	return f, r.b, nil
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

// reader decodes numbers from the front of b. After the first malformed number, bad is true and all
// results are 0.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.b) < n {
		r.bad = true
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) fixed64() uint64 { return binary.BigEndian.Uint64(r.take(8)) }
func (r *reader) fixed32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }

// max reads a number from 0 to limit in its shortest form.
func (r *reader) max(limit uint64) uint64 {
	n, size := binary.Uvarint(r.b)
	if r.bad || size <= 0 || size > 1 && r.b[size-1] == 0 || n > limit {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return n
}

// signed reads a number in the shortest zigzag form of package binary.
func (r *reader) signed() int64 {
	u := r.max(1<<64 - 1)
	n := int64(u >> 1)
	if u&1 != 0 {
		n = ^n
	}
	return n
}

// keys reads at most limit keys.
func (r *reader) keys(limit int) []uint32 {
	n := int(r.max(uint64(limit)))
	if r.bad || n == 0 || len(r.b) < 4*n {
		r.bad = r.bad || n > 0
		return nil
	}
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = r.fixed32()
	}
	return keys
}

// bag reads a bag of at most limit terms.
func (r *reader) bag(limit int) bag {
	n := int(r.max(uint64(limit)))
	if r.bad || n == 0 || len(r.b) < 2*n {
		r.bad = r.bad || n > 0
		return nil
	}
	b := make(bag, n)
	last := uint64(0)
	for i := range b {
		last += r.max(1<<32 - 1)
		b[i] = count{key: uint32(last), n: uint16(r.max(maxCount))}
		r.bad = r.bad || last > 1<<32-1 || b[i].n == 0 || i > 0 && b[i].key <= b[i-1].key
	}
	return b
}
