package search

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// Merge writes one segment with the documents of several sources. It leaves out hidden documents,
// except rewound ones, and returns the new numbers of these in hidden. No two documents may have
// the same ID and Version. Merge needs 36 bytes of memory per document, and 20 bytes per term.
func Merge(w io.Writer, sources []Source) (docs int, hidden map[uint32]bool, err error) {
	m := merger{sources: sources, hidden: map[uint32]bool{}}
	if err := m.order(); err != nil {
		return 0, nil, err
	}
	m.w = newWriter(w, len(m.kept))
	if err := m.rows(); err != nil {
		return 0, nil, err
	}
	if err := m.terms(); err != nil {
		return 0, nil, err
	}
	return len(m.kept), m.hidden, m.w.finish()
}

type merger struct {
	sources []Source
	w       *writer
	kept    []keptDoc
	places  [][]uint32 // by source and document: the new number; noDoc for one that is left out
	hidden  map[uint32]bool
}

// keptDoc is a document of a source.
type keptDoc struct {
	session string
	seq     uint64
	source  int
	doc     uint32
}

// order puts the documents of all sources in the order of compareRows.
func (m *merger) order() (err error) {
	m.places = make([][]uint32, len(m.sources))
	for i := range m.sources {
		s := &m.sources[i]
		m.places[i] = slices.Repeat([]uint32{noDoc}, s.docs)
		run := 0
		for doc := range uint32(s.docs) {
			for doc >= s.runStart(run+1) {
				run++
			}
			if rewound, hidden := s.Hidden[doc]; !hidden || rewound {
				at := s.runs[run]
				m.kept = append(m.kept, keptDoc{session: s.sessions[at.session],
					seq: at.seq + uint64(doc-at.doc), source: i, doc: doc})
			}
		}
	}
	slices.SortFunc(m.kept, func(a, b keptDoc) int {
		c := cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq))
		if c != 0 || a.source == b.source && a.doc == b.doc {
			return c
		}
		x, u, fault := m.sources[a.source].Entry(a.doc)
		y, v, failed := m.sources[b.source].Entry(b.doc)
		err = cmp.Or(err, fault, failed)
		return cmp.Or(x.Compare(y), u.Compare(v))
	})
	for at, d := range m.kept {
		m.places[d.source][d.doc] = uint32(at)
		if m.sources[d.source].Hidden[d.doc] {
			m.hidden[uint32(at)] = true
		}
	}
	return err
}

// rows writes the rows of all documents.
func (m *merger) rows() error {
	for _, d := range m.kept {
		s := &m.sources[d.source]
		hot, err := s.hotRow(d.doc)
		if err != nil {
			return err
		}
		author := binary.BigEndian.Uint32(hot[2:])
		if int(author) >= len(s.authors) {
			return damaged("authors")
		}
		r := row{session: d.session, seq: d.seq, author: s.authors[author], length: hot[0],
			attr: hot[1]}
		when, id, err := s.cold(d.doc)
		if err != nil {
			return err
		}
		r.time, r.id = when.UnixMilli(), id
		if r.version, err = s.version(d.doc, id); err != nil {
			return err
		}
		if r.print, err = s.print(d.doc); err != nil {
			return err
		}
		m.w.row(&r)
	}
	m.w.endRows()
	return m.w.err
}

// terms writes the postings of all sources, term by term.
func (m *merger) terms() error {
	heads := make([]termReader, len(m.sources))
	for i := range m.sources {
		heads[i] = termReader{s: &m.sources[i]}
		if err := heads[i].advance(); err != nil {
			return err
		}
	}
	var list []posting
	byDoc := func(a, b posting) int { return cmp.Compare(a.doc, b.doc) }
	for {
		least, any := uint64(0), false
		for i := range heads {
			if heads[i].ok && (!any || heads[i].term < least) {
				least, any = heads[i].term, true
			}
		}
		if !any {
			return m.w.err
		}
		list = list[:0]
		for i := range heads {
			h := &heads[i]
			if !h.ok || h.term != least {
				continue
			}
			p := postings{b: h.postings, left: h.docs, most: h.s.docs}
			err := p.next()
			for ; err == nil && p.doc != noDoc; err = p.next() {
				if at := m.places[i][p.doc]; at != noDoc {
					list = append(list, posting{doc: at, count: p.count})
				}
			}
			if err == nil {
				err = h.advance()
			}
			if err != nil {
				return err
			}
		}
		if !slices.IsSortedFunc(list, byDoc) {
			slices.SortFunc(list, byDoc)
		}
		if len(list) > 0 {
			m.w.term(least, list)
		}
	}
}

// termReader returns the terms of a source with their postings, in order.
type termReader struct {
	s        *Source
	next     int
	ok       bool
	term     uint64
	docs     int
	postings []byte
	to       int64  // the end of the postings in the segment
	rows     []byte // of the terms from next on
}

func (r *termReader) advance() error {
	s := r.s
	if r.next == 0 {
		r.to, r.rows = s.atPostings, make([]byte, s.terms*termLen)
		if err := readFull(s.r, r.rows, s.atTerms); err != nil {
			return err
		}
	}
	if r.ok = r.next < s.terms; !r.ok {
		return nil
	}
	term, length, docs := decodeTerm(r.rows)
	from := r.to
	if r.next > 0 && term <= r.term {
		return damaged("terms out of order")
	}
	if r.to += length; r.to > s.atTerms || docs > s.docs || int64(docs) > length {
		return damaged("terms")
	}
	r.term, r.docs, r.rows = term, docs, r.rows[termLen:]
	r.next++
	r.postings = slices.Grow(r.postings[:0], int(length))[:length]
	return readFull(s.r, r.postings, from)
}

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
