package format

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"time"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// Operation is one mutation of a store: the refs that it moved and the decisions it took about
// forests. docs/format/operation.md describes its record.
type Operation struct {
	Number  uint64 // from 1, without gaps
	Before  ID     // digest of the previous operation; zero for the first
	Time    time.Time
	Verb    string // the kind of operation, such as append or compact; package refs lists all
	Effects Effects
	Session string // "" if the operation is not about one session
	About   uint64 // undo and redo: the operation that they take back or bring back; else 0
	Refs    []RefUpdate
	Forests []ForestUpdate
	Objects []Raw // new objects that the record carries; they are no part of the digest
}

// RefNames returns the names of the refs that the operation moves.
func (op *Operation) RefNames() []string {
	return lists.Map(op.Refs, func(u RefUpdate) string { return u.Name })
}

// RefUpdate moves one ref from the value Old, which it must have, to the value New.
type RefUpdate struct {
	Name     string
	Old, New Value
}

// ForestUpdate lists the decisions of an operation about one forest, in order.
type ForestUpdate struct {
	Name      string
	Decisions []Decision
}

// Decision is one step in the life of a forest. Its Kind says which fields it uses.
type Decision struct {
	Kind    DecisionKind
	Cluster uint64
	// Join, retract, restore: the entry; settle, drop: the summary; evict: the tombstone
	ID      ID
	Offset  uint64 // retract, restore: the place in the cluster; settle: the first member covered
	Count   uint64 // settle: the number of members covered
	Interim bool   // settle
}

// Decisions gives the decisions of an operation, each with the name of its forest.
func (op *Operation) Decisions() iter.Seq2[string, Decision] {
	return func(yield func(string, Decision) bool) {
		for _, f := range op.Forests {
			for _, d := range f.Decisions {
				if !yield(f.Name, d) {
					return
				}
			}
		}
	}
}

// DecisionKind says what a decision does.
type DecisionKind byte

// The kinds of decisions. A join to the cluster number Forest.Opened opens that cluster. A join to
// an evicted cluster revives it.
const (
	DecideJoin    DecisionKind = 'j' // the entry becomes the cluster's newest member
	DecideRetract DecisionKind = 'r' // the entry leaves the cluster
	DecideRestore DecisionKind = 'b' // the entry comes back to the place it left
	DecideSettle  DecisionKind = 's' // the summary covers Count members from Offset on
	DecideDrop    DecisionKind = 'd' // the summary covers nothing any more
	DecideEvict   DecisionKind = 'e' // the cluster becomes a tombstone
)

// The frame of a record: the magic, the length of the payload, a CRC-32C of those eight bytes, the
// payload, the SHA-256 of the payload, and the length again. The CRC distinguishes a flipped bit in
// the length from a record that is cut short. The second length lets a reader find the start of a
// record from its end.
const (
	opMagic    = "ctxo"
	opFront    = 12
	opBack     = sha256.Size + 4
	MaxPayload = 64 << 20 // bytes of one record's payload
)

// The forms of payloads, by their first byte. Form 4 is DensePayload.
const (
	opAlone   = 1 // an operation
	opCarries = 2 // a payload of form 1 and, behind it, the operation's objects
)

var errShortRecord = errors.New("record is cut short")

// ErrObjects says that an operation is whole, and that the objects its record carries are damaged.
var ErrObjects = errors.New("operation: the objects of the record do not match their digest")

// IsShortRecord reports whether err says that the bytes of a record end too early. With nothing
// after them, those bytes are a torn tail.
func IsShortRecord(err error) bool { return errors.Is(err, errShortRecord) }

// Encode returns the framed record, and the digest of the operation, which the next one names in
// Before. The digest is the same with and without Objects.
func (op *Operation) Encode() (record []byte, digest ID, err error) {
	p, err := op.payload()
	if err != nil {
		return nil, ID{}, fmt.Errorf("operation: %w", err)
	}
	digest = sha256.Sum256(p)
	if len(op.Objects) > 0 {
		p = withObjects(p, digest, op.Objects)
	}
	if len(p) > MaxPayload {
		return nil, ID{},
			fmt.Errorf("operation: record of %d bytes, %d is the most", len(p), MaxPayload)
	}
	return AppendRecord(make([]byte, 0, opFront+len(p)+opBack), p), digest, nil
}

// DecodeOperation reads the record at the start of b and checks all of it. n is the length of the
// record with its frame. The objects share the memory of b; the caller checks each against the id
// that names it.
//
// If b holds only the beginning of a record, IsShortRecord(err) is true. If err is ErrObjects, the
// results are valid, and op.Objects has those objects that can be told apart.
func DecodeOperation(b []byte) (op *Operation, digest ID, n int, err error) {
	op, digest, n, err = ReadOperation(b)
	if err == nil && len(op.Objects) > 0 &&
		sha256.Sum256(b[opFront:n-opBack]) != ID(b[n-opBack:n-4]) {
		err = ErrObjects
	}
	return op, digest, n, err
}

// ReadOperation is DecodeOperation for a reader that checks each object when it uses it: it does
// not compare the objects with the digest of the record. ErrObjects says that they cannot be told
// apart.
func ReadOperation(b []byte) (op *Operation, digest ID, n int, err error) {
	p, sum, err := unframe(b)
	if err != nil {
		return nil, ID{}, 0, err
	}
	own, objects := p, []byte(nil)
	if len(p) > 0 && p[0] == opCarries {
		own, sum, objects = splitObjects(p)
	}
	if digest = sha256.Sum256(own); digest != sum {
		return nil, ID{}, 0, errDigest
	}
	op, err = decodePayload(own)
	if err != nil {
		return nil, ID{}, 0, fmt.Errorf("operation: %w", err)
	}
	if objects != nil {
		op.Objects, err = decodeObjects(objects)
	}
	return op, digest, opFront + len(p) + opBack, err
}

var errDigest = errors.New("operation: record does not match its digest")

// RecordSize returns the length, with its frame, of the record that ends at the end of b. It reads
// only the last four bytes of b, so the caller must still decode the record. It returns 0 if those
// bytes are no valid length.
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

// diskSector is the smallest number of bytes that a disk writes atomically.
const diskSector = 512

// minHole is the number of zero bytes that show a sector that was never written. A shorter run of
// zeros can be part of a record, although records hold only digests, names, and numbers in their
// shortest form.
const minHole = 8

// IsUnfilledRecord reports whether b, the rest of a segment from byte at on, is room for one record
// that its writer did not fill completely. A power cut can leave such room if the file system
// extends a file before it writes the data, and writes sectors in any order.
//
// The result is true if b is all zeros from its start, or from the end of a record's front. It is
// also true if b has the length that its front gives, or a front of zeros, and if one of its disk
// sectors is all zeros.
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
		if to-from >= minHole && zeros(b[from:to]) {
			return true
		}
		from = to
	}
	return false
}

// frontFits checks the complete front of a record: its magic, its checksum, and the limit of its
// length.
func frontFits(b []byte) bool {
	sum := binary.BigEndian.Uint32(b[8:12])
	return string(b[:4]) == opMagic &&
		sum == crc32.Checksum(b[:8], crc32.MakeTable(crc32.Castagnoli)) &&
		binary.BigEndian.Uint32(b[4:8]) <= MaxPayload
}

// unframe returns the payload of the record at the start of b, and the SHA-256 that the record
// gives for it.
func unframe(b []byte) (payload []byte, sum ID, err error) {
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
	if binary.BigEndian.Uint32(back[sha256.Size:]) != size {
		return nil, ID{}, errDigest
	}
	return payload, ID(back[:sha256.Size]), nil
}

func (op *Operation) payload() ([]byte, error) {
	if err := op.check(); err != nil {
		return nil, err
	}
	return varint.Append([]byte{opAlone}, op.code), nil
}

func decodePayload(p []byte) (*Operation, error) {
	if len(p) == 0 {
		return nil, errors.New("no payload")
	}
	switch p[0] {
	case opAlone:
	case opCarries:
		return nil, errors.New("objects without an operation before them")
	case DensePayload:
		return nil, errDense
	default:
		return nil, &VersionError{What: "operation", Got: int(p[0]), Known: opAlone}
	}
	op := &Operation{}
	if err := varint.Decode(p[1:], op.code); err != nil {
		return nil, err
	}
	// Every field, numbers included, has one form. A payload that passes the checks therefore
	// encodes to the same bytes again.
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
		return errors.New("about is an operation that is not before it")
	case op.Time.UnixMilli() < 0:
		return errors.New("time before 1970")
	}
	if err := op.Effects.check(); err != nil {
		return err
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

// Effects says what an operation does, so that a program which does not know its verb can still
// follow it, undo it or refuse to. The first six fields are about session refs. The zero Effects
// are no effects: an operation states some.
type Effects struct {
	Extends  bool // branches grow: the new value descends from the old one, or a session begins
	Moves    bool // refs change to a value that need not descend from the old one
	Restores bool // refs return to earlier values: About names the operation that is taken back
	Makes    bool // more branches of a session begin, on entries that the session already has
	// Leaves comes with Moves: a branch may continue from another entry, and leave behind entries
	// that no branch has.
	Leaves bool
	// Removes means that refs end. With Extends, the entries of a branch that ends are part of a
	// branch that grows.
	Removes bool

	// Summarizes means that summaries change but members do not: an entry that leaves its cluster
	// returns to its place at once.
	Summarizes bool
	Forgets    bool // text is erased for good

	Undo UndoRule
}

// UndoRule says what undo and redo do when they meet an operation in the log. Records hold its
// values.
type UndoRule byte

// The rules.
const (
	UndoRefuses UndoRule = 0 // undo stops here
	UndoTakes   UndoRule = 1 // undo takes the operation back
	// UndoPasses means that the operation changes no history of a session: undo continues with the
	// operation before it.
	UndoPasses UndoRule = 2
	UndoIsUndo UndoRule = 3 // the operation took back the one that About names
	UndoIsRedo UndoRule = 4 // the operation brought back the one that About names
)

// flags returns the fields in the order of their bits, the lowest first.
func (e *Effects) flags() [8]*bool {
	return [...]*bool{
		&e.Extends, &e.Moves, &e.Restores, &e.Makes, &e.Leaves, &e.Removes,
		&e.Summarizes, &e.Forgets,
	}
}

func (e *Effects) check() error {
	switch {
	case *e == (Effects{}):
		return errors.New("an operation that states no effects")
	case e.Undo > UndoIsRedo:
		return fmt.Errorf("unknown rule of undo: %d", e.Undo)
	case e.Leaves && !e.Moves:
		return errors.New("an operation that leaves entries without moving refs")
	}
	return nil
}
