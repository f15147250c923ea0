package search

import (
	"encoding/binary"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// Manifest lists the segments of an index.
type Manifest struct {
	Tips     []Tip // the branches that the index covers
	Segments []Part
}

// Tip is a branch and its tip when it was indexed.
type Tip struct {
	Name string
	ID   format.ID
}

// Part is a segment, by the name of its file, and its documents that are in no history any more;
// see Source.Hidden.
type Part struct {
	Name   string
	Hidden map[uint32]bool
}

const manifestVersion = 9

// Encode returns the manifest's bytes.
func (m *Manifest) Encode() []byte {
	b := []byte{manifestVersion}
	b = binary.AppendUvarint(b, uint64(len(m.Tips)))
	for _, t := range m.Tips {
		b = varint.AppendString(b, t.Name)
		b = append(b, t.ID[:]...)
	}
	b = binary.AppendUvarint(b, uint64(len(m.Segments)))
	for _, p := range m.Segments {
		b = varint.AppendString(b, p.Name)
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

// DecodeManifest decodes the output of Encode. It returns ErrDamaged for anything else.
func DecodeManifest(b []byte) (*Manifest, error) {
	if len(b) == 0 || b[0] != manifestVersion {
		return nil, damaged("manifest of another version")
	}
	r := varint.Reader{Rest: b[1:]}
	m := &Manifest{}
	for range r.Count(1 + format.IDLen/2) {
		t := Tip{Name: r.String()}
		copy(t.ID[:], r.Take(uint64(len(t.ID))))
		m.Tips = append(m.Tips, t)
	}
	for range r.Count(2) {
		p := Part{Name: r.String(), Hidden: map[uint32]bool{}}
		last := uint64(0)
		for i := range r.Count(1) {
			v := r.Uvarint()
			last += v >> 1
			if v>>1 > maxDocs || i > 0 && v>>1 == 0 || last >= maxDocs || r.Err != nil {
				return nil, damaged("manifest")
			}
			p.Hidden[uint32(last)] = v&1 == 1
		}
		m.Segments = append(m.Segments, p)
	}
	if r.Err != nil || len(r.Rest) > 0 {
		return nil, damaged("manifest")
	}
	return m, nil
}
