package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// A payload of version 2 carries objects: the version, the operation's own payload with its length,
// the SHA-256 of the rest, the number of objects, and each object with its length, encoded as a
// loose file. docs/format/operation.md describes it.

// appendCarried returns the payload that holds own and the objects.
func appendCarried(own []byte, objects []Raw) []byte {
	rest := binary.AppendUvarint(nil, uint64(len(objects)))
	for _, r := range objects {
		size := len(r.Header)
		if r.Body != nil {
			size += 1 + len(r.Body)
		}
		rest = binary.AppendUvarint(rest, uint64(size))
		rest = append(rest, r.Header...)
		if r.Body != nil {
			rest = append(append(rest, '\n'), r.Body...)
		}
	}
	sum := sha256.Sum256(rest)
	p := make([]byte, 0, 1+binary.MaxVarintLen64+len(own)+len(sum)+len(rest))
	p = binary.AppendUvarint(append(p, opCarries), uint64(len(own)))
	p = append(append(p, own...), sum[:]...)
	return append(p, rest...)
}

// ownPayload returns the part of a payload that the digest of the operation covers: all of it, or
// what precedes the objects. A damaged length gives a part that does not match the digest.
func ownPayload(p []byte) []byte {
	if len(p) == 0 || p[0] != opCarries {
		return p
	}
	r := varint.Reader{Rest: p[1:]}
	own := r.Take(r.Uvarint())
	if r.Err != nil {
		return p
	}
	return own
}

// splitCarried returns the operation's own payload and the objects behind it. The error is nil or
// ErrObjects; then objects has those before the first one without a sound length.
func splitCarried(p []byte) (own []byte, objects []Raw, err error) {
	own = ownPayload(p)
	if len(own) == len(p) {
		return p, nil, nil
	}
	r := varint.Reader{Rest: p[1:]}
	r.Take(r.Uvarint())
	sum := r.Take(sha256.Size)
	if got := sha256.Sum256(r.Rest); !bytes.Equal(sum, got[:]) {
		err = ErrObjects
	}
	// The shortest object is the first line of a header.
	n := r.Count(2)
	if n == 0 {
		r.Fail(errNoObjects)
	}
	for ; n > 0 && r.Err == nil; n-- {
		raw, bad := DecodeLoose(r.Take(r.Uvarint()))
		if r.Err != nil {
			break
		}
		if bad != nil {
			err = ErrObjects
			continue
		}
		objects = append(objects, raw)
	}
	if r.Err != nil || len(r.Rest) > 0 {
		err = ErrObjects
	}
	return own, objects, err
}

var errNoObjects = errors.New("no objects")
