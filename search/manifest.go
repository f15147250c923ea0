package search

import (
	"encoding/binary"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Manifest says what an index is made of.
type Manifest struct {
	Tips     []Tip // the branches as the index knows them
	Segments []Part
}

// Tip is a branch and what it stood on.
type Tip struct {
	Name string
	ID   format.ID
}

// Part is a segment by the name of its file, and what has become of its documents.
type Part struct {
	Name   string
	Hidden map[uint32]bool
}

const manifestVersion = 3

// Encode returns the manifest's bytes.
func (m *Manifest) Encode() []byte {
	b := []byte{manifestVersion}
	b = binary.AppendUvarint(b, uint64(len(m.Tips)))
	for _, t := range m.Tips {
		b = appendString(b, t.Name)
		b = append(b, t.ID[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(m.Segments)))
	for _, p := range m.Segments {
		b = appendString(b, p.Name)
		b = binary.AppendUvarint(b, uint64(len(p.Hidden)))
		docs := make([]uint32, 0, len(p.Hidden))
		for doc := range p.Hidden {
			docs = append(docs, doc)
		}
		slices.Sort(docs)
		last := uint32(0)
		for _, doc := range docs {
			v := uint64(doc-last) << 1
			if p.Hidden[doc] {
				v |= 1
			}
			b = binary.AppendUvarint(b, v)
			last = doc
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// DecodeManifest reads what Encode wrote; ErrDamaged for anything else.
func DecodeManifest(b []byte) (*Manifest, error) {
	if len(b) == 0 || b[0] != manifestVersion {
		return nil, damaged("manifest of another version")
	}
	d := decoder{b: b[1:]}
	m := &Manifest{}
	for range d.count(1 + format.IDLen/2) {
		t := Tip{Name: d.string()}
		copy(t.ID[:], d.take(uint64(len(t.ID))))
		m.Tips = append(m.Tips, t)
	}
	for range d.count(2) {
		p := Part{Name: d.string(), Hidden: map[uint32]bool{}}
		last := uint64(0)
		for i := range d.count(1) {
			v := d.uvarint()
			if v>>1 > maxDocs || i > 0 && v>>1 == 0 {
				d.bad = true
			}
			if last += v >> 1; last >= maxDocs || d.bad {
				return nil, damaged("manifest")
			}
			p.Hidden[uint32(last)] = v&1 == 1
		}
		m.Segments = append(m.Segments, p)
	}
	if d.bad || len(d.b) > 0 {
		return nil, damaged("manifest")
	}
	return m, nil
}

// decoder reads from the front of b; bad says that something was not there.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads how many things follow that take at least so many bytes each.
func (d *decoder) count(least int) int {
	n := d.uvarint()
	if n > uint64(len(d.b)/least) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }
