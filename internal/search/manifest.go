package search

import (
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

const manifestVersion = 12

// Encode returns the manifest's bytes.
func (m *Manifest) Encode() []byte { return varint.Append([]byte{manifestVersion}, m.code) }

// DecodeManifest decodes the output of Encode. It returns ErrDamaged for anything else.
func DecodeManifest(b []byte) (*Manifest, error) {
	m := &Manifest{}
	if len(b) == 0 || b[0] != manifestVersion || varint.Decode(b[1:], m.code) != nil {
		return nil, damaged("manifest")
	}
	return m, nil
}

func (m *Manifest) code(c *varint.Code) {
	varint.List(c, &m.Tips, func(t *Tip, c *varint.Code) {
		varint.Text(c, &t.Name)
		c.Fixed(t.ID[:])
	})
	varint.List(c, &m.Segments, func(p *Part, c *varint.Code) {
		varint.Text(c, &p.Name)
		varint.Map(c, &p.Hidden, func(doc *uint32, rewound *bool) {
			if varint.Number(c, doc); *doc >= maxDocs {
				c.Fail(ErrDamaged)
			}
			c.Flag(rewound)
		})
	})
}
