// Package varint reads and writes the fields of binary payloads: numbers as varints, and strings as
// their length followed by their bytes.
//
// A Reader never panics, and a damaged number never causes a large allocation: the Reader fails,
// and returns zeros from then on. Begin with Reader.
package varint

import (
	"encoding/binary"
	"errors"
)

var (
	errShort = errors.New("ends early")
	errLong  = errors.New("a number with more bytes than it needs")
	errBool  = errors.New("neither 0 nor 1")
)

// AppendString appends the length of s and its bytes.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Reader reads fields from the front of Rest. After the first error, which Err keeps, every read
// returns zero.
type Reader struct {
	Rest []byte
	Err  error
}

// Fail sets Err if it is nil, and drops the rest.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err, r.Rest = err, nil
	}
}

// Take reads n bytes. They share the memory of the payload. On an error it returns nil.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Fail(errShort)
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Bool reads a byte that is 0 or 1.
func (r *Reader) Bool() bool {
	c := r.Byte()
	if c > 1 {
		r.Fail(errBool)
	}
	return c == 1
}

// Uvarint reads a number in its shortest form. Any other form is an error.
func (r *Reader) Uvarint() uint64 {
	if len(r.Rest) > 0 && r.Rest[0] < 0x80 { // most numbers
		n := r.Rest[0]
		r.Rest = r.Rest[1:]
		return uint64(n)
	}
	n, size := binary.Uvarint(r.Rest)
	switch {
	case size <= 0:
		r.Fail(errShort)
		return 0
	case size > 1 && r.Rest[size-1] == 0:
		r.Fail(errLong)
		return 0
	}
	r.Rest = r.Rest[size:]
	return n
}

// Varint reads a number with a sign, as binary.AppendVarint writes it.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	n := int64(u >> 1)
	if u&1 != 0 {
		n = ^n
	}
	return n
}

// Uint32 reads a number of 4 bytes, the highest byte first.
func (r *Reader) Uint32() uint32 {
	if b := r.Take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads a number of 8 bytes, the highest byte first.
func (r *Reader) Uint64() uint64 {
	if b := r.Take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Count reads the number of elements that follow, each of which takes at least size bytes. It is an
// error if the payload has too few bytes for them.
func (r *Reader) Count(size int) int {
	n := r.Uvarint()
	if n > uint64(len(r.Rest)/size) {
		r.Fail(errShort)
		return 0
	}
	return int(n)
}

// String reads a string.
func (r *Reader) String() string { return string(r.Take(r.Uvarint())) }
