package format

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

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

// code codes an operation as the payload of a record has it, behind the form: without the objects.
// What was read has yet to pass check.
func (op *Operation) code(c *varint.Code) {
	c.Uint(&op.Number)
	c.Fixed(op.Before[:])
	codeTime(c, &op.Time)
	c.Word(&op.Verb)
	op.Effects.code(c)
	c.Word(&op.Session)
	c.Uint(&op.About)
	varint.List(c, &op.Refs, func(u *RefUpdate, c *varint.Code) {
		c.Word(&u.Name)
		u.Old.code(c)
		u.New.code(c)
	})
	varint.List(c, &op.Forests, func(f *ForestUpdate, c *varint.Code) {
		c.Word(&f.Name)
		varint.List(c, &f.Decisions, (*Decision).code)
	})
}

func codeTime(c *varint.Code, t *time.Time) {
	ms := uint64(t.UnixMilli())
	if c.Uint(&ms); !c.Writes {
		*t = time.UnixMilli(int64(ms)).UTC()
	}
}

func (e *Effects) code(c *varint.Code) {
	var b [2]byte
	for i, is := range e.flags() {
		if *is {
			b[0] |= 1 << i
		}
	}
	b[1] = byte(e.Undo)
	if c.Fixed(b[:]); c.Writes {
		return
	}
	for i, is := range e.flags() {
		*is = b[0]&(1<<i) != 0
	}
	e.Undo = UndoRule(b[1])
}

func (v *Value) code(c *varint.Code) {
	switch varint.Octet(c, &v.Kind); v.Kind {
	case NoValue:
	case ObjectValue:
		c.Fixed(v.ID[:])
	case SessionValue:
		c.Fixed(v.ID[:])
		c.Uint(&v.Frontier)
		c.Uint(&v.Through)
		pinned := !v.Pin.IsZero()
		if c.Flag(&pinned); pinned {
			if c.Fixed(v.Pin[:]); v.Pin.IsZero() {
				c.Fail(errZeroID)
			}
		}
	case NameValue:
		c.Word(&v.Name)
	default:
		c.Fail(errors.New("unknown kind of value"))
	}
}

func (d *Decision) code(c *varint.Code) {
	varint.Octet(c, &d.Kind)
	c.Uint(&d.Cluster)
	c.Fixed(d.ID[:])
	switch d.Kind {
	case DecideRetract, DecideRestore:
		c.Uint(&d.Offset)
	case DecideSettle:
		c.Uint(&d.Offset)
		c.Uint(&d.Count)
		c.Flag(&d.Interim)
	}
}

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
