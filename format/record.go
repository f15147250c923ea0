package format

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// MaxRecord is the size in bytes of the largest record, with its frame.
const MaxRecord = opFront + MaxPayload + opBack

// AppendRecord appends the record that holds a payload. Its frame follows from the payload.
func AppendRecord(b, payload []byte) []byte {
	at := len(b)
	b = append(b, opMagic...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b[at:], crc32.MakeTable(crc32.Castagnoli)))
	b = append(b, payload...)
	sum := sha256.Sum256(payload)
	b = append(b, sum[:]...)
	return binary.BigEndian.AppendUint32(b, uint32(len(payload)))
}

// CutRecord returns the payload of the record at the start of b, and what follows the record. It
// checks the frame, its digest included, and nothing of the payload. The payload shares the memory
// of b. If b holds only the beginning of a record, IsShortRecord(err) is true.
func CutRecord(b []byte) (payload, rest []byte, err error) {
	payload, sum, err := unframe(b)
	if err != nil {
		return nil, nil, err
	}
	if sha256.Sum256(payload) != sum {
		return nil, nil, errDigest
	}
	return payload, b[opFront+len(payload)+opBack:], nil
}

// DensePayload is the form of a payload that holds a block of records in a dense log segment
// (docs/format/dense-log.md).
const DensePayload = 4

// earlyPayload is the form that such a block had before version 1 of the formats.
const earlyPayload = 3

// BlockPayload returns the payload of a block: frame unpacks to so many bytes of whole records.
func BlockPayload(plain int, frame []byte) []byte {
	return append(binary.AppendUvarint([]byte{DensePayload}, uint64(plain)), frame...)
}

// CutBlock is the inverse of BlockPayload. The number of plain bytes is from 1 to MaxRecord. frame
// shares the memory of the payload.
func CutBlock(payload []byte) (plain int, frame []byte, err error) {
	r := varint.Reader{Rest: payload}
	if v := r.Byte(); r.Err == nil && v != DensePayload {
		return 0, nil, &VersionError{What: "block of the log", Got: int(v), Known: DensePayload}
	}
	n := r.Uvarint()
	if r.Err == nil && (n == 0 || n > MaxRecord) {
		r.Fail(fmt.Errorf("%d plain bytes", n))
	}
	if r.Err != nil {
		return 0, nil, fmt.Errorf("block of the log: %w", r.Err)
	}
	return int(n), r.Rest, nil
}

// BeginsDense reports whether b begins with a record whose payload has the form DensePayload.
// Thirteen bytes are enough to tell.
func BeginsDense(b []byte) bool {
	return len(b) > opFront && frontFits(b[:opFront]) && b[opFront] == DensePayload
}

// CheckEarly returns a *VersionError if b begins with a block of a build from before version 1.
func CheckEarly(b []byte) error {
	if len(b) > opFront && frontFits(b[:opFront]) && b[opFront] == earlyPayload {
		return &VersionError{What: "the log", Early: true}
	}
	return nil
}

// RecordPrefix is the number of bytes of a record that BeginsDense needs.
const RecordPrefix = opFront + 1

// RecordLength returns the length of the record at the start of b, with its frame, as its front
// says it. The front is complete and sound: BeginsDense says so.
func RecordLength(b []byte) int {
	return opFront + int(binary.BigEndian.Uint32(b[4:8])) + opBack
}

// RecordPayload returns the payload of a record and checks nothing: see CutRecord.
func RecordPayload(record []byte) []byte { return record[opFront : len(record)-opBack] }

var errDense = errors.New("a block of a dense segment where an operation belongs")
