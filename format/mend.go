package format

import (
	"bytes"
	"encoding/binary"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// Mend returns the record at the start of b as it was before one of its bytes changed: the record
// that differs from b in that byte and matches all of its digests, which no other one does. It
// returns nil if there is none, or if it would take too long to find. b may go on behind the
// record.
func Mend(b []byte) []byte {
	if len(b) < opFront+opBack {
		return nil
	}
	front := bytes.Clone(b[:opFront])
	if !frontFits(front) && !vary(front, opFront, func() bool { return frontFits(front) }) {
		return nil
	}
	size := RecordLength(front)
	if len(b) < size {
		return nil
	}
	record := bytes.Clone(b[:size])
	copy(record, front)
	copy(record[size-4:], front[4:8])
	m := mender{payload: record[opFront : size-opBack], sum: record[size-opBack : size-4]}
	for _, step := range []func(){func() {}, m.mendSum, m.mendOperation, m.mendObjects} {
		step()
		if _, _, _, err := DecodeOperation(record); err == nil {
			return record
		}
	}
	return nil
}

// mender changes a record in place. Each step mends a part, if it is the damaged one.
type mender struct{ payload, sum []byte }

func (m mender) mendSum() { fitDigest(m.sum, m.payload) }

// mendOperation mends what stands before the objects.
func (m mender) mendOperation() {
	if len(m.payload) == 0 {
		return
	}
	before := m.payload
	if m.payload[0] == opCarries {
		own, _, rest := splitObjects(m.payload)
		before = m.payload[:len(m.payload)-len(rest)]
		if len(rest) == 0 { // the length of the operation is too large
			before = before[:min(len(before), 1+binary.MaxVarintLen64)]
		} else if fitDigest(before[len(before)-len(ID{}):], own) {
			return
		}
	}
	fits := func() bool {
		own, digest := m.payload, ID(m.sum)
		if own[0] == opCarries {
			own, digest, _ = splitObjects(own)
		}
		return Sum(own) == digest
	}
	_ = vary(m.payload[:1], len(m.payload), fits) || vary(before, len(before), fits)
}

// mendObjects mends an object, or what tells the objects apart, in a record whose operation is
// sound.
func (m mender) mendObjects() {
	if len(m.payload) == 0 || m.payload[0] != opCarries {
		return
	}
	own, _, rest := splitObjects(m.payload)
	op, err := decodePayload(own)
	if err != nil {
		return
	}
	named := namedBy(op, rest)
	r := varint.Reader{Rest: rest}
	for n := r.Count(2); n > 0 && r.Err == nil; n-- {
		mendObject(r.Take(r.Uvarint()), named)
	}
	if r.Err != nil || len(r.Rest) > 0 {
		const parse = 64 // takes about as long as a digest of so many bytes
		vary(rest, parse, func() bool {
			_, err := decodeObjects(rest)
			return err == nil && Sum(m.payload) == ID(m.sum)
		})
	}
}

// mendObject mends the header of an object, which something names by its id, or the body.
func mendObject(loose []byte, named map[ID]bool) {
	raw, err := DecodeRaw(loose)
	if err == nil && named[raw.ID()] {
		body, ok, err := HeaderBody(raw.Header)
		if err == nil && ok && body.Check(raw.Body) != nil {
			vary(raw.Body, len(raw.Body), func() bool { return body.Check(raw.Body) == nil })
		}
		return
	}
	header := loose
	if err == nil {
		header = loose[:min(len(loose), len(raw.Header)+1)]
	}
	vary(header, len(header), func() bool {
		raw, err := DecodeRaw(loose)
		return err == nil && named[raw.ID()]
	})
}

// namedBy returns the ids that an operation, and the objects that its record carries, name.
func namedBy(op *Operation, objects []byte) map[ID]bool {
	named := map[ID]bool{}
	for _, u := range op.Refs {
		named[u.New.ID], named[u.New.Pin] = true, true
	}
	for _, d := range op.Decisions() {
		named[d.ID] = true
	}
	list, _ := decodeObjects(objects)
	for _, raw := range list {
		if _, o, err := DecodeObject(raw.Header); err == nil {
			for _, l := range o.Links() {
				named[l.ID] = true
			}
		}
	}
	return named
}

// fitDigest makes digest that of b if it differs from it in one byte.
func fitDigest(digest, b []byte) bool {
	sum, differ := Sum(b), 0
	for i := range sum {
		if sum[i] != digest[i] {
			differ++
		}
	}
	if differ == 1 {
		copy(digest, sum[:])
	}
	return differ == 1
}

// maxVaried bounds the bytes that are read to find a changed byte, to a fraction of a second.
const maxVaried = 1 << 28

// vary changes one byte of b so that it fits, and leaves b as it is if no change does. A test reads
// cost bytes. Where that is too much for all values of a byte, only single bits are flipped.
func vary(b []byte, cost int, fits func() bool) bool {
	values := make([]byte, 0, 255)
	for x := 1; x < 256; x++ {
		if x&(x-1) == 0 || 255*len(b)*cost <= maxVaried {
			values = append(values, byte(x))
		}
	}
	if len(values)*len(b)*cost > maxVaried {
		return false
	}
	for i, was := range b {
		for _, x := range values {
			if b[i] = was ^ x; fits() {
				return true
			}
		}
		b[i] = was
	}
	return false
}
