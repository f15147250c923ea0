package search

import (
	"encoding/binary"
	"io"
	"slices"
)

// Merge writes one segment with the documents of several sources. It leaves out hidden documents,
// except rewound ones, and returns the new numbers of these in hidden. No two documents may have
// the same ID and Version. Merge needs about 50 bytes of memory per document and 20 per term.
func Merge(w io.Writer, sources []Source) (docs int, hidden map[uint32]bool, err error) {
	all := 0
	for _, s := range sources {
		all += s.docs
	}
	m := merger{sources: sources, w: newWriter(w, all), hidden: map[uint32]bool{}}
	if err := m.rows(); err != nil {
		return 0, nil, err
	}
	if err := m.terms(); err != nil {
		return 0, nil, err
	}
	return int(m.w.docs), m.hidden, m.w.finish()
}

type merger struct {
	sources []Source
	w       *writer
	places  [][]uint32 // by source and document: its new number, or gone
	hidden  map[uint32]bool
}

const gone = ^uint32(0)

// rows writes the rows of all sources in order.
func (m *merger) rows() error {
	heads := make([]rowReader, len(m.sources))
	for i := range m.sources {
		m.places = append(m.places, make([]uint32, m.sources[i].docs))
		s := m.sources[i].Segment
		heads[i] = rowReader{s: &m.sources[i], places: m.places[i], versions: make([]byte, s.versions*versionLen)}
		if err := readFull(s.r, heads[i].versions, s.atVersions); err != nil {
			return err
		}
		if err := heads[i].advance(); err != nil {
			return err
		}
	}
	for {
		least := -1
		for i := range heads {
			if heads[i].ok && (least < 0 || compareRows(&heads[i].row, &heads[least].row) < 0) {
				least = i
			}
		}
		if least < 0 {
			m.w.endRows()
			return nil
		}
		h := &heads[least]
		h.places[h.doc] = m.w.docs
		if h.s.Hidden[h.doc] {
			m.hidden[m.w.docs] = true
		}
		m.w.row(&h.row)
		h.next++
		if err := h.advance(); err != nil {
			return err
		}
	}
}

// rowReader returns the rows of a source in order, and reads them from disk in blocks.
type rowReader struct {
	s      *Source
	places []uint32
	row    row
	doc    uint32 // number of row
	next   uint32
	ok     bool
	cold   []byte // cold rows from document at on
	at     uint32
	run    int

	versions []byte // of the documents from doc on
}

// coldAhead is the number of cold rows that are read at a time.
const coldAhead = 4096

// advance moves to the next document that is kept.
func (r *rowReader) advance() error {
	for ; int(r.next) < r.s.docs; r.next++ {
		if rewound, hidden := r.s.Hidden[r.next]; !hidden || rewound {
			r.ok, r.doc = true, r.next
			return r.read()
		}
		r.places[r.next] = gone
	}
	r.ok = false
	return nil
}

func (r *rowReader) read() error {
	length, attr, author, err := r.s.hotRow(r.doc)
	if err != nil {
		return err
	}
	if n := r.doc / hotBlock; n > 0 {
		r.s.hot[n-1] = nil // rows are read once, in order, so the previous block is not needed again
	}
	if r.doc >= r.at+uint32(len(r.cold)/coldLen) || r.cold == nil {
		r.at = r.doc
		r.cold = make([]byte, min(coldAhead, uint32(r.s.docs)-r.at)*coldLen)
		if err := readFull(r.s.r, r.cold, r.s.atCold+int64(r.at)*coldLen); err != nil {
			return err
		}
	}
	for r.run+1 < len(r.s.runs) && r.s.runs[r.run+1].doc <= r.doc {
		r.run++
	}
	cold := r.cold[(r.doc-r.at)*coldLen:]
	v := r.s.runs[r.run]
	r.row = row{
		session: r.s.sessions[v.session], seq: v.seq + uint64(r.doc-v.doc), author: r.s.authors[author], length: length, attr: attr,
		time: int64(binary.BigEndian.Uint64(cold)),
	}
	copy(r.row.id[:], cold[8:])
	r.row.print = binary.BigEndian.Uint64(cold[coldLen-8:])
	r.row.version = r.row.id
	for len(r.versions) > 0 && binary.BigEndian.Uint32(r.versions) < r.doc {
		r.versions = r.versions[versionLen:]
	}
	if len(r.versions) > 0 && binary.BigEndian.Uint32(r.versions) == r.doc {
		copy(r.row.version[:], r.versions[4:])
	}
	return nil
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
	var lists [][]posting
	for {
		lists = lists[:0]
		least, any := uint64(0), false
		for i := range heads {
			if heads[i].ok && (!any || heads[i].term < least) {
				least, any = heads[i].term, true
			}
		}
		if !any {
			return nil
		}
		for i := range heads {
			h := &heads[i]
			if !h.ok || h.term != least {
				continue
			}
			var list []posting
			err := eachPosting(h.postings, h.docs, h.s.docs, func(doc uint32, count uint8) {
				if at := m.places[i][doc]; at != gone {
					list = append(list, posting{doc: at, count: count})
				}
			})
			if err != nil {
				return err
			}
			lists = append(lists, list)
			if err := h.advance(); err != nil {
				return err
			}
		}
		all := lists[0]
		for _, l := range lists[1:] {
			all = append(all, l...)
		}
		if len(all) == 0 {
			continue
		}
		slices.SortFunc(all, func(a, b posting) int { return int(a.doc) - int(b.doc) })
		m.w.term(least, all)
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
	rows     []byte // of terms, from next on, and the offset of the one after
	bytes    []byte // of postings, from at on
	at       int64
}

// The numbers of terms, and of bytes of postings, that are read at a time.
const (
	termsAhead    = 4096
	postingsAhead = 256 << 10
)

func (r *termReader) advance() error {
	r.ok = r.next < r.s.terms
	if !r.ok {
		return nil
	}
	if len(r.rows) < 2*termLen {
		r.rows = make([]byte, min(termsAhead, r.s.terms-r.next)*termLen)
		if err := readFull(r.s.r, r.rows, r.s.atTerms+int64(r.next)*termLen); err != nil {
			return err
		}
	}
	term := binary.BigEndian.Uint64(r.rows)
	if r.next > 0 && term <= r.term {
		return damaged("terms out of order")
	}
	from := r.s.atPostings + int64(binary.BigEndian.Uint64(r.rows[8:]))
	to := r.s.atTerms
	if len(r.rows) >= 2*termLen {
		to = r.s.atPostings + int64(binary.BigEndian.Uint64(r.rows[termLen+8:]))
	}
	if from < r.s.atPostings || to < from || to > r.s.atTerms {
		return damaged("terms")
	}
	r.term, r.docs = term, int(binary.BigEndian.Uint32(r.rows[16:]))
	r.rows = r.rows[termLen:]
	r.next++
	if from < r.at || to > r.at+int64(len(r.bytes)) {
		r.at = from
		r.bytes = make([]byte, min(max(to-from, postingsAhead), r.s.atTerms-from))
		if err := readFull(r.s.r, r.bytes, from); err != nil {
			return err
		}
	}
	r.postings = r.bytes[from-r.at : to-r.at]
	if r.docs > r.s.docs || r.docs > len(r.postings) {
		return damaged("terms")
	}
	return nil
}
