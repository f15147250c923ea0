package dense

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

const idSize = len(format.ID{})

// PrefixSize is how many bytes of an id a block has: as many as the index of a pack. Of a million
// objects, four bytes do not tell apart one in 4,000.
const PrefixSize = 4

// groupSize is how many prefixes share a check. So candidates are told apart a few at a time.
const groupSize = 64

// Prefix is the first bytes of an id.
type Prefix = [PrefixSize]byte

// The numbers of places.
const (
	placeLiteral = iota
	placePrefix
	placeBefore
	placeAgain // and how far back
)

// The forms of records.
const (
	formWhole = 0
	formAlone = 1 // that of the payload
)

// columns are the parts of an unpacked block.
type columns struct {
	records  int
	prefixes []Prefix
	checks   []uint32 // of each group of prefixes, that of the ids
	literals []byte   // ids
	places   []byte   // varints
	shapes   []byte   // the records without their ids
}

func (c *columns) bytes() []byte {
	b := binary.AppendUvarint(nil, uint64(c.records))
	b = binary.AppendUvarint(b, uint64(len(c.prefixes)))
	for _, p := range c.prefixes {
		b = append(b, p[:]...)
	}
	for _, sum := range c.checks {
		b = binary.BigEndian.AppendUint32(b, sum)
	}
	b = binary.AppendUvarint(b, uint64(len(c.literals)/idSize))
	b = append(b, c.literals...)
	b = varint.AppendString(b, string(c.places))
	return append(b, c.shapes...)
}

func split(raw []byte) (c columns, err error) {
	r := varint.Reader{Rest: raw}
	c.records = r.Count(1)
	if n := r.Count(PrefixSize); n > 0 {
		c.prefixes = make([]Prefix, n)
		for i := range c.prefixes {
			copy(c.prefixes[i][:], r.Take(PrefixSize))
		}
		for i := 0; i < n; i += groupSize {
			c.checks = append(c.checks, r.Uint32())
		}
	}
	c.literals = r.Take(uint64(r.Count(idSize) * idSize))
	c.places = r.Take(r.Uvarint())
	c.shapes = r.Rest
	if r.Err == nil && c.records == 0 {
		r.Fail(errors.New("a block without records"))
	}
	return c, r.Err
}

// Encode codes whole records, one behind the other, as a block without its frame. present tells
// which of some objects are in the packs, under the first bytes of their ids alone; the other ids
// stay as they are.
func Encode(plain []byte, present func([]format.ID) ([]bool, error)) (Block, []byte, error) {
	known := map[format.ID]bool{}
	var ids []format.ID
	scan := &encoder{}
	scan.named = func(id format.ID) bool {
		if _, met := known[id]; !met {
			known[id] = false
			ids = append(ids, id)
		}
		return false
	}
	if err := scan.records(plain); err != nil {
		return Block{}, nil, err
	}
	there, err := present(ids)
	if err != nil {
		return Block{}, nil, err
	}
	for i, id := range ids {
		known[id] = there[i]
	}
	e := &encoder{named: func(id format.ID) bool { return known[id] }}
	if err := e.records(plain); err != nil {
		return Block{}, nil, err
	}
	for group := range slices.Chunk(e.ids, groupSize) {
		e.c.checks = append(e.c.checks, check(group))
	}
	raw := e.c.bytes()
	return Block{Plain: len(plain), Digest: sha256.Sum256(plain), Raw: len(raw)}, raw, nil
}

// check is the CRC-32C of ids, one behind the other.
func check(ids []format.ID) (sum uint32) {
	for i := range ids {
		sum = crc32.Update(sum, castagnoli(), ids[i][:])
	}
	return sum
}

// castagnoli returns the table of the CRC, which the library keeps.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

type encoder struct {
	c     columns
	ids   []format.ID          // those that have a prefix
	named func(format.ID) bool // whether its prefix stands for an object that stays

	seen  map[format.ID]int // ids that came up, and when
	last  format.ID         // the digest of the record before
	known bool              // there is one, and not of formWhole
}

func (e *encoder) records(plain []byte) error {
	e.seen = map[format.ID]int{}
	for len(plain) > 0 {
		_, rest, err := format.CutRecord(plain)
		if err != nil {
			return err
		}
		e.record(plain[:len(plain)-len(rest)])
		e.c.records++
		plain = rest
	}
	return nil
}

// record codes an operation alone; any other record stays whole.
func (e *encoder) record(b []byte) {
	op, digest, _, err := format.DecodeOperation(b)
	if err != nil || len(op.Objects) > 0 {
		e.known = false
		e.c.shapes = varint.AppendString(append(e.c.shapes, formWhole), string(b))
		return
	}
	e.c.shapes = varint.Append(append(e.c.shapes, formAlone),
		func(c *varint.Code) { format.CodeOperation(c, op, e.id) })
	e.last, e.known = digest, true
}

func (e *encoder) id(_ *varint.Code, of *format.ID, at format.Place) {
	id, n := *of, uint64(placeLiteral)
	switch when, again := e.seen[id]; {
	case at == format.PlaceBefore && e.known && id == e.last:
		n = placeBefore
	case again:
		n = placeAgain + uint64(len(e.seen)-1-when)
	case at == format.PlaceStays && e.named(id):
		n = placePrefix
		e.c.prefixes, e.ids = append(e.c.prefixes, Prefix(id[:])), append(e.ids, id)
	default:
		e.c.literals = append(e.c.literals, id[:]...)
	}
	if n == placeLiteral || n == placePrefix {
		e.seen[id] = len(e.seen)
	}
	e.c.places = binary.AppendUvarint(e.c.places, n)
}

// join is the inverse of Encode: ids has the id for each prefix. The result has at most size bytes.
func join(c columns, ids []format.ID, size int) ([]byte, error) {
	d := &decoder{places: varint.Reader{Rest: c.places}, literals: varint.Reader{Rest: c.literals},
		ids: ids, size: size}
	d.out = make([]byte, 0, min(size, 1<<20))
	rest := c.shapes
	for range c.records {
		var err error
		if rest, err = d.record(rest); err != nil {
			return nil, err
		}
	}
	if len(rest) > 0 || len(d.places.Rest) > 0 || len(d.literals.Rest) > 0 || len(d.ids) > 0 {
		return nil, errLeft
	}
	return d.out, nil
}

var (
	errLeft = errors.New("a block with bytes left over")
	errLong = errors.New("a block longer than it says")
	errBack = errors.New("an id that did not come up before")
	errForm = errors.New("a record of an unknown form")
)

type decoder struct {
	places, literals varint.Reader
	ids              []format.ID
	size             int

	out   []byte
	seen  []format.ID
	last  format.ID
	known bool
}

// record adds the next record, and returns what follows it.
func (d *decoder) record(b []byte) (rest []byte, err error) {
	r := varint.Reader{Rest: b}
	if len(b) > 0 && b[0] == formWhole {
		r.Byte()
		whole := r.Take(r.Uvarint())
		if r.Err == nil && len(d.out)+len(whole) > d.size {
			r.Fail(errLong)
		}
		d.out, d.known = append(d.out, whole...), false
		return r.Rest, r.Err
	}
	c := varint.Code{Reader: r}
	if c.Byte() != formAlone {
		c.Fail(errForm)
	}
	op := &format.Operation{}
	format.CodeOperation(&c, op, func(c *varint.Code, id *format.ID, at format.Place) {
		var err error
		if *id, err = d.id(at); err != nil {
			c.Fail(err)
		}
	})
	if c.Err != nil {
		return nil, c.Err
	}
	record, digest, err := op.Encode()
	if err == nil && len(d.out)+len(record) > d.size {
		err = errLong
	}
	d.out, d.last, d.known = append(d.out, record...), digest, true
	return c.Rest, err
}

func (d *decoder) id(at format.Place) (id format.ID, err error) {
	n := d.places.Uvarint()
	switch {
	case d.places.Err != nil:
		return id, d.places.Err
	case n == placeLiteral:
		copy(id[:], d.literals.Take(uint64(idSize)))
	case n == placePrefix && len(d.ids) == 0:
		return id, errBack
	case n == placePrefix:
		id, d.ids = d.ids[0], d.ids[1:]
	case n == placeBefore && at == format.PlaceBefore && d.known:
		return d.last, nil
	case n == placeBefore || n-placeAgain >= uint64(len(d.seen)):
		return id, errBack
	default:
		return d.seen[uint64(len(d.seen)-1)-(n-placeAgain)], nil
	}
	d.seen = append(d.seen, id)
	return id, d.literals.Err
}
