package format

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// A payload of form 2 carries objects: the form, the operation's own payload with its length,
// the SHA-256 of that, the number of objects, and each object with its length (AppendRaw).
// docs/format/operation.md describes it.

// withObjects returns the payload that holds own, whose SHA-256 is digest, and the objects.
func withObjects(own []byte, digest ID, objects []Raw) []byte {
	size := 1 + len(own) + len(digest) + 2*binary.MaxVarintLen64
	for _, r := range objects {
		size += binary.MaxVarintLen64 + rawLen(r)
	}
	p := make([]byte, 0, size)
	p = binary.AppendUvarint(append(p, opCarries), uint64(len(own)))
	p = append(append(p, own...), digest[:]...)
	p = binary.AppendUvarint(p, uint64(len(objects)))
	for _, r := range objects {
		p = binary.AppendUvarint(p, uint64(rawLen(r)))
		p = AppendRaw(p, r)
	}
	return p
}

// splitObjects parts a payload of form 2: the operation's own payload, the digest that is given
// for it, and the objects, which are not nil. Parts that are cut short are empty.
func splitObjects(p []byte) (own []byte, digest ID, objects []byte) {
	r := varint.Reader{Rest: p[1:]}
	own = r.Take(r.Uvarint())
	if given := r.Take(sha256.Size); r.Err == nil {
		digest = ID(given)
	}
	if r.Rest == nil {
		return own, digest, []byte{}
	}
	return own, digest, r.Rest
}

// SalvageObjects returns the objects that can be told apart in the damaged record at the start of
// b, which may go on behind the record. The caller checks each object.
func SalvageObjects(b []byte) []Raw {
	if len(b) <= opFront || b[opFront] != opCarries {
		return nil
	}
	_, _, rest := splitObjects(b[opFront:])
	objects, _ := decodeObjects(rest)
	return objects
}

var errNoObjects = errors.New("no objects")

// decodeObjects reads the objects behind an operation. The error is nil or ErrObjects; with it come
// the objects before the first one without a sound length.
func decodeObjects(b []byte) (objects []Raw, err error) {
	r := varint.Reader{Rest: b}
	n := r.Count(2) // a length and a byte
	if n == 0 {
		r.Fail(errNoObjects)
	}
	for ; n > 0; n-- {
		text := r.Take(r.Uvarint())
		if r.Err != nil {
			break
		}
		if raw, bad := DecodeRaw(text); bad != nil {
			err = ErrObjects
		} else {
			objects = append(objects, raw)
		}
	}
	if r.Err != nil || len(r.Rest) > 0 {
		err = ErrObjects
	}
	return objects, err
}
