package format

import (
	"encoding/binary"
	"errors"
)

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendValue(b []byte, v Value) []byte {
	b = append(b, byte(v.Kind))
	switch v.Kind {
	case ObjectValue:
		b = append(b, v.ID[:]...)
	case SessionValue:
		b = append(b, v.ID[:]...)
		b = binary.AppendUvarint(b, v.Frontier)
		b = binary.AppendUvarint(b, v.Through)
		if v.Pin.IsZero() {
			return append(b, 0)
		}
		b = append(b, 1)
		b = append(b, v.Pin[:]...)
	case NameValue:
		b = appendString(b, v.Name)
	}
	return b
}

func appendDecision(b []byte, d Decision) []byte {
	b = append(b, byte(d.Kind))
	b = binary.AppendUvarint(b, d.Cluster)
	b = append(b, d.ID[:]...)
	switch d.Kind {
	case DecideRetract, DecideRestore:
		b = binary.AppendUvarint(b, d.Offset)
	case DecideSettle:
		b = binary.AppendUvarint(b, d.Offset)
		b = binary.AppendUvarint(b, d.Count)
		if d.Interim {
			return append(b, 1)
		}
		b = append(b, 0)
	}
	return b
}

var errShort = errors.New("ends early")

// byteReader reads the fields of a binary payload. The first error sticks; what is read after it is zero.
type byteReader struct {
	b   []byte
	err error
}

func (r *byteReader) byte() byte {
	if r.err != nil || len(r.b) == 0 {
		r.fail(errShort)
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *byteReader) bool() bool {
	c := r.byte()
	if c > 1 {
		r.fail(errors.New("neither 0 nor 1"))
	}
	return c == 1
}

func (r *byteReader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail(errShort)
		return 0
	}
	if size > 1 && r.b[size-1] == 0 {
		r.fail(errors.New("a number with more bytes than it needs"))
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads a number of things that each take least bytes at least, so that a bad number cannot make a reader allocate.
func (r *byteReader) count(least int) uint64 {
	n := r.uvarint()
	if n > uint64(len(r.b)/least) {
		r.fail(errShort)
		return 0
	}
	return n
}

func (r *byteReader) string() string {
	n := r.count(1)
	if r.err != nil {
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *byteReader) id() ID {
	var id ID
	if r.err != nil || len(r.b) < len(id) {
		r.fail(errShort)
		return id
	}
	copy(id[:], r.b)
	r.b = r.b[len(id):]
	return id
}

func (r *byteReader) value() Value {
	v := Value{Kind: ValueKind(r.byte())}
	switch v.Kind {
	case NoValue:
	case ObjectValue:
		v.ID = r.id()
	case SessionValue:
		v.ID, v.Frontier, v.Through = r.id(), r.uvarint(), r.uvarint()
		if r.bool() {
			v.Pin = r.id()
		}
	case NameValue:
		v.Name = r.string()
	default:
		r.fail(errors.New("unknown kind of value"))
	}
	return v
}

func (r *byteReader) decision() Decision {
	d := Decision{Kind: DecisionKind(r.byte()), Cluster: r.uvarint(), ID: r.id()}
	switch d.Kind {
	case DecideRetract, DecideRestore:
		d.Offset = r.uvarint()
	case DecideSettle:
		d.Offset, d.Count = r.uvarint(), r.uvarint()
		d.Interim = r.bool()
	}
	return d
}

func (r *byteReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
