package format

import (
	"encoding/binary"
	"errors"

	"github.com/gemini-ctx/ctx/internal/varint"
)

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
		b = varint.AppendString(b, v.Name)
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

// byteReader reads the fields of a binary payload.
type byteReader struct{ varint.Reader }

func (r *byteReader) id() (id ID) {
	copy(id[:], r.Take(uint64(len(id))))
	return id
}

func (r *byteReader) value() Value {
	v := Value{Kind: ValueKind(r.Byte())}
	switch v.Kind {
	case NoValue:
	case ObjectValue:
		v.ID = r.id()
	case SessionValue:
		v.ID, v.Frontier, v.Through = r.id(), r.Uvarint(), r.Uvarint()
		if r.Bool() {
			v.Pin = r.id()
		}
	case NameValue:
		v.Name = r.String()
	default:
		r.Fail(errors.New("unknown kind of value"))
	}
	return v
}

func (r *byteReader) decision() Decision {
	d := Decision{Kind: DecisionKind(r.Byte()), Cluster: r.Uvarint(), ID: r.id()}
	switch d.Kind {
	case DecideRetract, DecideRestore:
		d.Offset = r.Uvarint()
	case DecideSettle:
		d.Offset, d.Count = r.Uvarint(), r.Uvarint()
		d.Interim = r.Bool()
	}
	return d
}
