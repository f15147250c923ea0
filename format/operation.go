package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// Operation is one mutation of a store: what it did to which refs, and what it decided about the forests. docs/format/operation.md
// is its page.
type Operation struct {
	Number  uint64 // from 1, without gaps
	Before  ID     // digest of the operation before; zero for the first
	Time    time.Time
	Verb    string // the command: append, compact, undo …
	Session string // "" where it is not about one session
	About   uint64 // undo and redo: the operation they take back or bring back; else 0
	Refs    []RefUpdate
	Forests []ForestUpdate
}

// RefNames returns the names of the refs that the operation moves.
func (op *Operation) RefNames() []string {
	names := make([]string, len(op.Refs))
	for i, u := range op.Refs {
		names[i] = u.Name
	}
	return names
}

// RefUpdate is the move of one ref from the value it was expected to have.
type RefUpdate struct {
	Name     string
	Old, New Value
}

// ForestUpdate is what an operation decided about one forest, in order.
type ForestUpdate struct {
	Name      string
	Decisions []Decision
}

// Decision is one step in the life of a forest. Which fields it uses depends on its Kind.
type Decision struct {
	Kind    DecisionKind
	Cluster uint64
	ID      ID     // join, retract, restore: the entry; settle, drop: the summary; evict: the tombstone
	Offset  uint64 // retract, restore: the place in the cluster; settle: where the cover starts
	Count   uint64 // settle: how many members it covers
	Interim bool   // settle
}

// DecisionKind says what a decision does.
type DecisionKind byte

// The kinds of decisions. A join with the number of clusters opened so far opens the next one; a join of an evicted cluster revives it.
const (
	DecideJoin    DecisionKind = 'j' // the entry becomes the cluster's newest member
	DecideRetract DecisionKind = 'r' // the entry leaves the cluster
	DecideRestore DecisionKind = 'b' // the entry comes back to the place it left
	DecideSettle  DecisionKind = 's' // the summary covers Count members from Offset on
	DecideDrop    DecisionKind = 'd' // the summary covers nothing any more
	DecideEvict   DecisionKind = 'e' // the cluster becomes a tombstone
)

// The frame of a record: magic, length of the payload, CRC-32C of those eight bytes, payload, SHA-256 of the payload, length again.
// The CRC tells a bit flipped in the length from a record that was cut short; the length behind shows that the record ends.
const (
	opMagic    = "ctxo"
	opFront    = 12
	opBack     = sha256.Size + 4
	opVersion  = 1
	MaxPayload = 64 << 20 // bytes of one record's payload
)

var errShortRecord = errors.New("record is cut short")

// IsShortRecord reports whether err says that a record ends before its end: a torn tail, if nothing comes after it.
func IsShortRecord(err error) bool { return errors.Is(err, errShortRecord) }

// Encode returns the record, frame and all, and its digest, which the next operation names.
func (op *Operation) Encode() (record []byte, digest ID, err error) {
	p, err := op.payload()
	if err != nil {
		return nil, ID{}, fmt.Errorf("operation: %w", err)
	}
	digest = sha256.Sum256(p)
	out := make([]byte, 0, opFront+len(p)+opBack)
	out = append(out, opMagic...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(p)))
	out = binary.BigEndian.AppendUint32(out, crc32.Checksum(out[:8], crc32.MakeTable(crc32.Castagnoli)))
	out = append(out, p...)
	out = append(out, digest[:]...)
	return binary.BigEndian.AppendUint32(out, uint32(len(p))), digest, nil
}

// DecodeOperation reads the record at the start of b. n is its length with the frame. IsShortRecord(err) tells a record of which b
// holds only a beginning from a bad one.
func DecodeOperation(b []byte) (op *Operation, digest ID, n int, err error) {
	p, digest, err := unframe(b)
	if err != nil {
		return nil, ID{}, 0, err
	}
	op, err = decodePayload(p)
	if err != nil {
		return nil, ID{}, 0, fmt.Errorf("operation: %w", err)
	}
	return op, digest, opFront + len(p) + opBack, nil
}

// RecordSize returns the length of the record that ends where b ends, frame and all, as the length behind it says; 0 where no record can end there.
// The record has still to be decoded.
func RecordSize(b []byte) int64 {
	if len(b) < 4 {
		return 0
	}
	n := binary.BigEndian.Uint32(b[len(b)-4:])
	if n > MaxPayload {
		return 0
	}
	return opFront + int64(n) + opBack
}

// diskSector is the least that a disk writes as a whole.
const diskSector = 512

// leastHole is how many zeros tell a place that was never written from bytes that happen to be zero: those of a record are digests, numbers in as few bytes as
// they take, and names.
const leastHole = 8

// IsUnfilledRecord reports whether b, the rest of a segment from byte at on, is a place for one record that its writer never filled, or not in every sector of
// the disk: zeros to the end; or the room of one record, by the length in front or because there are zeros there, with a sector in which all of it is zeros. A
// power cut can leave that where a file system lengthens a file before it writes to it, and writes sectors in any order.
func IsUnfilledRecord(b []byte, at int64) bool {
	zeros := func(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }
	front := b[:min(len(b), opFront)]
	switch {
	case zeros(b), len(b) > opFront && string(b[:4]) == opMagic && zeros(b[opFront:]):
		return true
	case zeros(front):
	case len(b) <= opFront || !frontFits(front) || RecordSize(front[4:8]) != int64(len(b)):
		return false
	}
	for from := 0; from < len(b); {
		to := min(len(b), from+diskSector-int((at+int64(from))%diskSector))
		if to-from >= leastHole && zeros(b[from:to]) {
			return true
		}
		from = to
	}
	return false
}

// frontFits checks the front of a record, which is all there: magic, checksum, and a length within its bound.
func frontFits(b []byte) bool {
	sum := binary.BigEndian.Uint32(b[8:12])
	return string(b[:4]) == opMagic && sum == crc32.Checksum(b[:8], crc32.MakeTable(crc32.Castagnoli)) && binary.BigEndian.Uint32(b[4:8]) <= MaxPayload
}

func unframe(b []byte) (payload []byte, digest ID, err error) {
	if len(b) < opFront {
		if !bytes.HasPrefix([]byte(opMagic), b[:min(len(b), len(opMagic))]) {
			return nil, ID{}, errors.New("operation: no record here")
		}
		return nil, ID{}, errShortRecord
	}
	if !frontFits(b) {
		return nil, ID{}, errors.New("operation: bad record front")
	}
	size := binary.BigEndian.Uint32(b[4:8])
	if len(b) < opFront+int(size)+opBack {
		return nil, ID{}, errShortRecord
	}
	payload = b[opFront : opFront+int(size)]
	back := b[opFront+int(size):]
	digest = sha256.Sum256(payload)
	if !bytes.Equal(digest[:], back[:sha256.Size]) || binary.BigEndian.Uint32(back[sha256.Size:]) != size {
		return nil, ID{}, errors.New("operation: record does not match its digest")
	}
	return payload, digest, nil
}

func (op *Operation) payload() ([]byte, error) {
	if err := op.check(); err != nil {
		return nil, err
	}
	b := []byte{opVersion}
	b = binary.AppendUvarint(b, op.Number)
	b = append(b, op.Before[:]...)
	b = binary.AppendUvarint(b, uint64(op.Time.UnixMilli()))
	b = appendString(b, op.Verb)
	b = appendString(b, op.Session)
	b = binary.AppendUvarint(b, op.About)
	b = binary.AppendUvarint(b, uint64(len(op.Refs)))
	for _, u := range op.Refs {
		b = appendString(b, u.Name)
		b = appendValue(b, u.Old)
		b = appendValue(b, u.New)
	}
	b = binary.AppendUvarint(b, uint64(len(op.Forests)))
	for _, f := range op.Forests {
		b = appendString(b, f.Name)
		b = binary.AppendUvarint(b, uint64(len(f.Decisions)))
		for _, d := range f.Decisions {
			b = appendDecision(b, d)
		}
	}
	if len(b) > MaxPayload {
		return nil, fmt.Errorf("record of %d bytes, %d is the most", len(b), MaxPayload)
	}
	return b, nil
}

// The fewest bytes that things of a payload take: a ref has a name and two kinds of value; a decision a kind, a cluster and an id; a
// forest a name and one decision.
const (
	leastRef      = 4
	leastDecision = 2 + sha256.Size
	leastForest   = 3 + leastDecision
)

func decodePayload(p []byte) (*Operation, error) {
	r := &byteReader{b: p}
	if v := r.byte(); v != opVersion && r.err == nil {
		return nil, &VersionError{What: "operation", Got: int(v), Known: opVersion}
	}
	op := &Operation{Number: r.uvarint(), Before: r.id()}
	op.Time = time.UnixMilli(int64(r.uvarint())).UTC()
	op.Verb, op.Session, op.About = r.string(), r.string(), r.uvarint()
	for n := r.count(leastRef); n > 0 && r.err == nil; n-- {
		op.Refs = append(op.Refs, RefUpdate{Name: r.string(), Old: r.value(), New: r.value()})
	}
	for n := r.count(leastForest); n > 0 && r.err == nil; n-- {
		f := ForestUpdate{Name: r.string()}
		for m := r.count(leastDecision); m > 0 && r.err == nil; m-- {
			f.Decisions = append(f.Decisions, r.decision())
		}
		op.Forests = append(op.Forests, f)
	}
	if r.err == nil && len(r.b) > 0 {
		r.err = errors.New("bytes after the end")
	}
	if r.err != nil {
		return nil, r.err
	}
	// Every field has one form, numbers too, so that what passes the checks prints back to the same bytes.
	if err := op.check(); err != nil {
		return nil, err
	}
	return op, nil
}

func (op *Operation) check() error {
	switch {
	case op.Number == 0:
		return errors.New("numbers count from 1")
	case (op.Number == 1) != op.Before.IsZero():
		return errors.New("the first operation, and it alone, has none before it")
	case !isWord(op.Verb):
		return fmt.Errorf("bad verb: %.40q", op.Verb)
	case op.About >= op.Number:
		return errors.New("about an operation that is not before it")
	case op.Time.UnixMilli() < 0:
		return errors.New("time before 1970")
	}
	if op.Session != "" {
		if err := CheckName(op.Session); err != nil {
			return err
		}
	}
	for i, u := range op.Refs {
		if err := CheckRefName(u.Name); err != nil {
			return err
		}
		if i > 0 && u.Name <= op.Refs[i-1].Name {
			return errors.New("refs are not in ascending order")
		}
		if err := u.Old.check(); err != nil {
			return err
		}
		if err := u.New.check(); err != nil {
			return err
		}
	}
	for i, f := range op.Forests {
		if err := CheckName(f.Name); err != nil {
			return err
		}
		if len(f.Decisions) == 0 || i > 0 && f.Name <= op.Forests[i-1].Name {
			return errors.New("forests are not in ascending order, or one without decisions")
		}
		for _, d := range f.Decisions {
			if err := d.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d Decision) check() error {
	used := Decision{Kind: d.Kind, Cluster: d.Cluster, ID: d.ID}
	switch d.Kind {
	case DecideRetract, DecideRestore:
		used.Offset = d.Offset
	case DecideSettle:
		used.Offset, used.Count, used.Interim = d.Offset, d.Count, d.Interim
	case DecideJoin, DecideDrop, DecideEvict:
	default:
		return fmt.Errorf("unknown decision: %d", d.Kind)
	}
	if d.Kind == DecideSettle && (d.Count == 0 || d.Offset+d.Count < d.Offset) {
		return errors.New("a cover over no members")
	}
	if d != used || d.ID.IsZero() {
		return errors.New("a decision with fields that its kind does not have")
	}
	return nil
}
