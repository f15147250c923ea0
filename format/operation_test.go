package format_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

func TestOperationRoundTrip(t *testing.T) {
	for _, op := range []*format.Operation{sampleOperation(), fullOperation(), emptyOperation(),
		carryingOperation(), statingOperation()} {
		record, digest, err := op.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, sum, n, err := format.DecodeOperation(
			append(bytes.Clone(record), "what comes after"...))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, op) || sum != digest || n != len(record) {
			t.Errorf("got %+v, %s, %d bytes; want %+v, %s, %d bytes", got, sum, n, op,
				digest, len(record))
		}
	}
}

func TestOperationPrefixIsShort(t *testing.T) {
	for _, record := range codecOf(t, "operation").samples {
		for n := range record {
			if _, _, _, err := format.DecodeOperation(record[:n]); !format.IsShortRecord(err) {
				t.Errorf("%d of %d bytes: got error %v, want a short record", n, len(record), err)
			}
		}
	}
}

// TestOperationDamageIsNoTornTail flips every bit of a complete record. The result must not be
// taken for a torn tail.
func TestOperationDamageIsNoTornTail(t *testing.T) {
	for _, record := range codecOf(t, "operation").samples {
		for i := range record {
			for bit := range 8 {
				d := bytes.Clone(record)
				d[i] ^= 1 << bit
				_, _, _, err := format.DecodeOperation(d)
				if err == nil || format.IsShortRecord(err) {
					t.Fatalf("bit %d of byte %d of %d: got error %v", bit, i, len(record), err)
				}
			}
		}
	}
}

// TestOperationDamagedFrontIsNoTornTail damages the front of records whose end is missing too.
func TestOperationDamagedFrontIsNoTornTail(t *testing.T) {
	record := codecOf(t, "operation").samples[0]
	for i := range 12 {
		for n := 12; n < len(record); n++ {
			d := bytes.Clone(record[:n])
			d[i] ^= 0x40
			if _, _, _, err := format.DecodeOperation(d); err == nil || format.IsShortRecord(err) {
				t.Fatalf("byte %d, %d of %d bytes: got error %v", i, n, len(record), err)
			}
		}
	}
	for _, b := range []string{"x", "ctxp", "ctxp12345", "\x00\x00\x00\x00"} {
		if _, _, _, err := format.DecodeOperation([]byte(b)); err == nil ||
			format.IsShortRecord(err) {
			t.Errorf("%q: got error %v", b, err)
		}
	}
}

// frame makes a record of a payload, as docs/format/operation.md describes it.
func frame(payload []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte("ctxo"), uint32(len(payload)))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	b = append(b, payload...)
	sum := sha256.Sum256(payload)
	b = append(b, sum[:]...)
	return binary.BigEndian.AppendUint32(b, uint32(len(payload)))
}

// carrying returns the payload of form 2 around own, up to its objects.
func carrying(own []byte) []byte {
	sum := sha256.Sum256(own)
	return append(append(binary.AppendUvarint([]byte{2}, uint64(len(own))), own...), sum[:]...)
}

// operationPart returns the operation's own payload.
func operationPart(payload []byte) []byte {
	if len(payload) < 2 || payload[0] != 2 {
		return payload
	}
	n, size := binary.Uvarint(payload[1:])
	if size <= 0 || n > uint64(len(payload)-1-size) {
		return payload
	}
	return payload[1+size:][:n]
}

func payloadOf(t *testing.T, op *format.Operation) []byte {
	t.Helper()
	record, _, err := op.Encode()
	if err != nil {
		t.Fatal(err)
	}
	payload := record[12 : len(record)-36]
	if !bytes.Equal(frame(payload), record) {
		t.Fatal("the frame is not what the page says")
	}
	return payload
}

func TestOperationPayloadRefused(t *testing.T) {
	// Form, number, 32 zeros, time, "init", effects, "", about, no refs, no forests
	empty := payloadOf(t, emptyOperation())
	at := func(i int, b ...byte) []byte {
		return append(append(bytes.Clone(empty[:i]), b...), empty[i+1:]...)
	}
	stating := func(flags, undo byte) []byte {
		return append(append(bytes.Clone(empty[:40]), flags, undo), empty[42:]...)
	}
	tests := []struct {
		name    string
		payload []byte
		want    string
	}{
		{"nothing", nil, "no payload"},
		{"version 5", at(0, 5), "version 5"},
		{"no effects", stating(0, 0), "states no effects"},
		{"a rule of undo to come", stating(1, 5), "rule of undo"},
		{"leaving without moving", stating(1<<4, 1), "without moving"},
		{"effects cut", stating(1, 1)[:41], "ends early"},
		{"a dense block", at(0, 4), "dense"},
		{"version 3", at(0, 3), "version 3"},
		{"form 2 around nothing", []byte{2, 0}, "digest"},
		{"form 2 around form 2", carrying([]byte{2, 0}), "without an operation"},
		{"form 2 with no objects", append(carrying(empty), 0), "objects"},
		{"form 2 with bytes after the objects",
			append(carrying(empty), 1, 1, '\n', 0), "objects"},
		{"number in two bytes", at(1, 0x81, 0), "more bytes than it needs"},
		{"number 0", at(1, 0), "count from 1"},
		{"number 2 without one before", at(1, 2), "the first operation"},
		{"bytes after the end", append(bytes.Clone(empty), 0), "goes on after its end"},
		{"cut", empty[:len(empty)-1], "ends early"},
		{"endless number", at(1, bytes.Repeat([]byte{0x80}, 12)...), "ends early"},
		{"time past int64", at(34, binary.AppendUvarint(nil, math.MaxUint64)...), "before 1970"},
		{"verb past the end", at(35, 0xff, 0x7f), "ends early"},
		{"bad verb", at(36, 'I'), "bad verb"},
		{"about itself", at(43, 1), "not before it"},
		{"refs past the end", at(44, 0xff, 0xff, 0xff, 0xff, 0x0f), "ends early"},
		{"forests past the end", at(45, 0xff, 0xff, 0xff, 0xff, 0x0f), "ends early"},
	}
	for _, tt := range tests {
		_, _, _, err := format.DecodeOperation(frame(tt.payload))
		if err == nil || format.IsShortRecord(err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %q", tt.name, err, tt.want)
		}
	}
	_, _, _, err := format.DecodeOperation(frame(at(0, 9)))
	var v *format.VersionError
	if !errors.As(err, &v) || v.Got != 9 || v.Known != 1 {
		t.Errorf("got %v, want a VersionError", err)
	}
}

// Objects that are damaged take nothing of the operation with them, and the sound ones stay.
func TestOperationObjectsDamaged(t *testing.T) {
	whole := carryingOperation()
	payload := payloadOf(t, whole)
	record, digest, err := whole.Encode()
	if err != nil {
		t.Fatal(err)
	}
	bare := *whole
	bare.Objects = nil
	if _, same, err := bare.Encode(); err != nil || same != digest {
		t.Errorf("the digest without objects is %s, with them %s, error %v", same, digest, err)
	}
	front := len(record) - 36 - len(carriedPart(payload))
	for i := front; i < len(record)-36; i++ {
		d := bytes.Clone(record)
		d[i] ^= 0x10
		op, sum, n, err := format.DecodeOperation(d)
		if !errors.Is(err, format.ErrObjects) || sum != digest || n != len(record) ||
			op.Verb != whole.Verb {
			t.Fatalf("byte %d: got %+v, %s, %d bytes, error %v", i, op, sum, n, err)
		}
	}
	d := bytes.Clone(record)
	d[len(d)-45] ^= 1 // in the header of the last object
	op, _, _, err := format.DecodeOperation(d)
	if !errors.Is(err, format.ErrObjects) || len(op.Objects) != len(whole.Objects) ||
		!reflect.DeepEqual(op.Objects[0], whole.Objects[0]) {
		t.Errorf("got %d objects, error %v", len(op.Objects), err)
	}
}

// carriedPart returns the objects of a payload of form 2.
func carriedPart(payload []byte) []byte {
	return payload[len(carrying(operationPart(payload))):]
}

// TestOperationPayloadDamage changes payloads inside valid frames. Every payload that is accepted
// must encode to the same bytes again.
func TestOperationPayloadDamage(t *testing.T) {
	for _, op := range []*format.Operation{sampleOperation(), fullOperation(), emptyOperation(),
		carryingOperation(), statingOperation()} {
		for _, p := range damaged(payloadOf(t, op)) {
			record := frame(p)
			if again, err := againOperation(record); err == nil && !bytes.Equal(again, record) {
				t.Fatalf("%x was accepted and prints as %x", record, again)
			}
		}
	}
}

func TestOperationRefuses(t *testing.T) {
	id := format.Sum(nil)
	object := format.Value{Kind: format.ObjectValue, ID: id}
	decide := func(d format.Decision) func(*format.Operation) {
		return func(op *format.Operation) {
			op.Forests = []format.ForestUpdate{{Name: "main", Decisions: []format.Decision{d}}}
		}
	}
	ref := func(u ...format.RefUpdate) func(*format.Operation) {
		return func(op *format.Operation) { op.Refs = u }
	}
	tests := []struct {
		name   string
		change func(*format.Operation)
	}{
		{"number 0", func(op *format.Operation) { op.Number = 0 }},
		{"first with one before", func(op *format.Operation) { op.Before = id }},
		{"second without", func(op *format.Operation) { op.Number = 2 }},
		{"no verb", func(op *format.Operation) { op.Verb = "" }},
		{"verb with a space", func(op *format.Operation) { op.Verb = "a b" }},
		{"about a later one", func(op *format.Operation) { op.About = 1 }},
		{"before 1970", func(op *format.Operation) { op.Time = time.UnixMilli(-1) }},
		{"bad session", func(op *format.Operation) { op.Session = ".." }},
		{"bad ref name", ref(format.RefUpdate{Name: "a//b", New: object})},
		{"ref twice",
			ref(format.RefUpdate{Name: "a", New: object},
				format.RefUpdate{Name: "a", New: object})},
		{"refs in no order",
			ref(format.RefUpdate{Name: "b", New: object},
				format.RefUpdate{Name: "a", New: object})},
		{"unknown kind of value", ref(format.RefUpdate{Name: "a", New: format.Value{Kind: 'x'}})},
		{"no value with an id", ref(format.RefUpdate{Name: "a", Old: format.Value{ID: id}})},
		{"object with a name",
			ref(
				format.RefUpdate{Name: "a",
					New: format.Value{Kind: format.ObjectValue, ID: id, Name: "x"}})},
		{"object of zeros",
			ref(format.RefUpdate{Name: "a", New: format.Value{Kind: format.ObjectValue}})},
		{"session without a tip",
			ref(format.RefUpdate{Name: "a", New: format.Value{Kind: format.SessionValue}})},
		{"through past frontier",
			ref(
				format.RefUpdate{Name: "a",
					New: format.Value{Kind: format.SessionValue, ID: id, Through: 1}})},
		{"name with an id",
			ref(
				format.RefUpdate{Name: "a",
					New: format.Value{Kind: format.NameValue, ID: id, Name: "x"}})},
		{"bad name",
			ref(
				format.RefUpdate{Name: "a",
					New: format.Value{Kind: format.NameValue, Name: "a/b"}})},
		{"bad forest name", func(op *format.Operation) {
			op.Forests =
				[]format.ForestUpdate{{Decisions: []format.Decision{{Kind: format.DecideDrop,
					ID: id}}}}
		}},
		{"forest without decisions",
			func(op *format.Operation) { op.Forests = []format.ForestUpdate{{Name: "main"}} }},
		{"forest twice", func(op *format.Operation) {
			f := format.ForestUpdate{Name: "main",
				Decisions: []format.Decision{{Kind: format.DecideDrop, ID: id}}}
			op.Forests = []format.ForestUpdate{f, f}
		}},
		{"unknown decision", decide(format.Decision{Kind: 'x', ID: id})},
		{"decision about nothing", decide(format.Decision{Kind: format.DecideJoin})},
		{"join with an offset",
			decide(format.Decision{Kind: format.DecideJoin, ID: id, Offset: 1})},
		{"retract with a count",
			decide(format.Decision{Kind: format.DecideRetract, ID: id, Count: 1})},
		{"restore as interim",
			decide(format.Decision{Kind: format.DecideRestore, ID: id, Interim: true})},
		{"drop with a count", decide(format.Decision{Kind: format.DecideDrop, ID: id, Count: 1})},
		{"evict with an offset",
			decide(format.Decision{Kind: format.DecideEvict, ID: id, Offset: 1})},
		{"settle over nothing", decide(format.Decision{Kind: format.DecideSettle, ID: id})},
		{"settle past the end",
			decide(format.Decision{Kind: format.DecideSettle, ID: id,
				Offset: math.MaxUint64, Count: 1})},
	}
	for _, tt := range tests {
		op := emptyOperation()
		tt.change(op)
		if record, _, err := op.Encode(); err == nil {
			t.Errorf("%s: was written: %x", tt.name, record)
		}
	}
}

// TestOperationCountsDoNotAllocate checks that a count larger than the rest of the payload is
// refused.
func TestOperationCountsDoNotAllocate(t *testing.T) {
	p := bytes.Clone(payloadOf(t, emptyOperation()))
	p = append(p[:42], binary.AppendUvarint(nil, 1<<20)...)
	p = append(p, make([]byte, 1<<20)...)
	got := testing.AllocsPerRun(1, func() {
		if _, _, _, err := format.DecodeOperation(frame(p)); err == nil {
			t.Error("a million refs in a megabyte were accepted")
		}
	})
	if got > 1000 {
		t.Errorf("%v allocations", got)
	}
}
