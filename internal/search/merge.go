package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"slices"
	"sort"
)

// Merge writes one segment with the documents of several sources. It leaves out hidden documents,
// except rewound ones, and returns the new numbers of these in hidden. No two documents may have
// the same ID and Version. Merge needs 20 bytes of memory per term, and some for each sequence of
// documents that stay together.
func Merge(w io.Writer, sources []Source) (docs int, hidden map[uint32]bool, err error) {
	m := merger{sources: sources, w: newWriter(w, 0), hidden: map[uint32]bool{}}
	if err := m.place(); err != nil {
		return 0, nil, err
	}
	for _, section := range []func() error{m.hot, m.prints, m.cold, m.versions, m.runs, m.terms} {
		if err := section(); err != nil {
			return 0, nil, err
		}
	}
	return int(m.w.docs), m.hidden, m.w.finish()
}

type merger struct {
	sources []Source
	w       *writer
	spans   []span
	of      [][]span // the same spans by source
	hidden  map[uint32]bool
}

// span is a sequence of documents of a source that stay together.
type span struct {
	source     int
	first, end uint32 // their numbers in the source
	at         uint32 // the new number of first
}

// place makes the spans: it puts the documents of all sources in order.
func (m *merger) place() error {
	heads := make([]rowReader, len(m.sources))
	for i := range m.sources {
		heads[i] = newRowReader(&m.sources[i])
	}
	m.of = make([][]span, len(m.sources))
	for {
		least, second := -1, -1 // second may have the same place
		for i := range heads {
			switch h := &heads[i]; {
			case h.first == h.end:
			case least < 0:
				least = i
			default:
				before, err := h.before(&heads[least])
				if err != nil {
					return err
				}
				if before {
					least, second = i, least
					continue
				}
				if second >= 0 {
					if before, err = h.before(&heads[second]); err != nil {
						return err
					}
				}
				if second < 0 || before {
					second = i
				}
			}
		}
		if least < 0 {
			return nil
		}
		h := &heads[least]
		n := h.end - h.first
		if second >= 0 && heads[second].session == h.session {
			n = uint32(max(min(heads[second].seq-h.seq, uint64(n)), 1))
		}
		m.add(least, h.first, h.first+n)
		h.skip(n)
	}
}

func (m *merger) add(source int, first, end uint32) {
	at := m.w.docs
	m.w.docs += end - first
	for doc := first; doc < end && len(m.sources[source].Hidden) > 0; doc++ {
		if m.sources[source].Hidden[doc] {
			m.hidden[at+doc-first] = true
		}
	}
	if n := len(m.spans); n > 0 && m.spans[n-1].source == source && m.spans[n-1].end == first {
		m.spans[n-1].end = end
		m.of[source][len(m.of[source])-1].end = end
		return
	}
	s := span{source: source, first: first, end: end, at: at}
	m.spans, m.of[source] = append(m.spans, s), append(m.of[source], s)
}

// rowReader goes through the kept documents of a source. The documents from first up to, but not
// including, end are in one session and have consecutive seqs, the first of which is seq.
type rowReader struct {
	s          *Source
	gone       []uint32 // documents that are left out, from first on
	run        int
	first, end uint32
	session    string
	seq        uint64
}

func newRowReader(s *Source) rowReader {
	r := rowReader{s: s}
	for doc, rewound := range s.Hidden {
		if !rewound && int(doc) < s.docs {
			r.gone = append(r.gone, doc)
		}
	}
	slices.Sort(r.gone)
	r.find(0)
	return r
}

// skip moves over n documents, at most all up to end.
func (r *rowReader) skip(n uint32) {
	if r.first+n < r.end {
		r.first += n
		r.seq += uint64(n)
		return
	}
	r.find(r.end)
}

// find moves to the first kept document from doc on.
func (r *rowReader) find(doc uint32) {
	for len(r.gone) > 0 && r.gone[0] == doc {
		r.gone = r.gone[1:]
		doc++
	}
	r.first, r.end = doc, doc
	if int(doc) >= r.s.docs {
		return
	}
	for r.run+1 < len(r.s.runs) && r.s.runs[r.run+1].doc <= doc {
		r.run++
	}
	run := r.s.runs[r.run]
	r.end, r.session, r.seq = r.s.runStart(r.run+1), r.s.sessions[run.session],
		run.seq+uint64(doc-run.doc)
	if len(r.gone) > 0 {
		r.end = min(r.end, r.gone[0])
	}
}

// before reports whether the next document of a source is before that of another one, in the order
// of compareRows.
func (r *rowReader) before(o *rowReader) (bool, error) {
	if c := cmp.Or(cmp.Compare(r.session, o.session), cmp.Compare(r.seq, o.seq)); c != 0 {
		return c < 0, nil
	}
	id, version, err := r.s.Entry(r.first)
	if err != nil {
		return false, err
	}
	other, otherVersion, err := o.s.Entry(o.first)
	return cmp.Or(bytes.Compare(id[:], other[:]), bytes.Compare(version[:], otherVersion[:])) < 0,
		err
}

// rowsAhead is the number of bytes of rows that are read at a time.
const rowsAhead = 256 << 10

// copyRows writes the rows of all spans, after change changed those of a span.
func (m *merger) copyRows(
	length int64, begin func(s *Source) int64, change func(source int, rows []byte) error,
) error {
	if m.w.docs > maxDocs {
		m.w.tooMany()
	}
	var b []byte
	for _, p := range m.spans {
		s := &m.sources[p.source]
		for first := p.first; first < p.end; {
			n := min(int64(p.end-first), rowsAhead/length)
			b = slices.Grow(b[:0], int(n*length))[:n*length]
			if err := readFull(s.r, b, begin(s)+int64(first)*length); err != nil {
				return err
			}
			if err := change(p.source, b); err != nil {
				return err
			}
			m.w.put(b)
			first += uint32(n)
		}
	}
	m.w.starts = append(m.w.starts, m.w.at)
	return m.w.err
}

func (m *merger) hot() error {
	authors := make([][]int64, len(m.sources)) // by source and author: 1 more than the new number
	for i, s := range m.sources {
		authors[i] = make([]int64, len(s.authors))
	}
	begin := func(*Source) int64 { return 0 }
	return m.copyRows(hotLen, begin, func(source int, rows []byte) error {
		for ; len(rows) > 0; rows = rows[hotLen:] {
			author := binary.BigEndian.Uint32(rows[2:])
			if int(author) >= len(authors[source]) {
				return damaged("authors")
			}
			n := &authors[source][author]
			if *n == 0 {
				*n = int64(m.w.authors.of(m.sources[source].authors[author])) + 1
			}
			binary.BigEndian.PutUint32(rows[2:], uint32(*n-1))
		}
		return nil
	})
}

func (m *merger) prints() error {
	begin := func(s *Source) int64 { return s.atPrints }
	return m.copyRows(printLen, begin, func(int, []byte) error { return nil })
}

func (m *merger) cold() error {
	begin := func(s *Source) int64 { return s.atCold }
	return m.copyRows(coldLen, begin, func(int, []byte) error { return nil })
}

func (m *merger) versions() error {
	left := make([][]byte, len(m.sources))
	for i, s := range m.sources {
		left[i] = make([]byte, s.versions*versionLen)
		if err := readFull(s.r, left[i], s.atVersions); err != nil {
			return err
		}
	}
	for _, p := range m.spans {
		rest := left[p.source]
		for ; len(rest) > 0 && binary.BigEndian.Uint32(rest) < p.end; rest = rest[versionLen:] {
			if doc := binary.BigEndian.Uint32(rest); doc >= p.first {
				m.w.versions = binary.BigEndian.AppendUint32(m.w.versions, doc-p.first+p.at)
				m.w.versions = append(m.w.versions, rest[4:versionLen]...)
			}
		}
		left[p.source] = rest
	}
	m.w.section(m.w.versions)
	return m.w.err
}

func (m *merger) runs() error {
	for _, p := range m.spans {
		s := m.sources[p.source].Segment
		for i := s.runOf(p.first); i < len(s.runs) && s.runs[i].doc < p.end; i++ {
			v := s.runs[i]
			first := max(v.doc, p.first)
			docs := min(s.runStart(i+1), p.end) - first
			m.w.run(s.sessions[v.session], p.at+first-p.first, v.seq+uint64(first-v.doc), docs)
		}
	}
	for _, section := range [][]byte{m.w.runs, m.w.sessions.bytes, m.w.authors.bytes} {
		m.w.section(section)
	}
	return m.w.err
}

// terms writes the postings of all sources, term by term.
func (m *merger) terms() error {
	heads := make([]termReader, len(m.sources))
	shifted := true // every source is one span, or none
	order := make([]int, len(m.sources))
	for i := range m.sources {
		order[i] = i
		of := m.of[i]
		shifted = shifted &&
			(m.sources[i].docs == 0 ||
				len(of) == 1 && of[0].first == 0 && int(of[0].end) == m.sources[i].docs)
		heads[i] = termReader{s: &m.sources[i]}
		if err := heads[i].advance(); err != nil {
			return err
		}
	}
	if shifted {
		slices.SortStableFunc(order,
			func(x, y int) int { return cmp.Compare(m.shift(x), m.shift(y)) })
	}
	var list []posting
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
		docs, last, err := 0, uint32(0), error(nil)
		if shifted {
			m.w.beginTerm(least)
		}
		for _, i := range order {
			h := &heads[i]
			if !h.ok || h.term != least {
				continue
			}
			if shifted {
				m.w.buf, last, err = appendShifted(m.w.buf, last, h.postings, h.docs,
					h.s.docs, m.shift(i))
				docs += h.docs
			} else {
				list, err = m.appendPlaced(list, i, h)
			}
			if err == nil {
				err = h.advance()
			}
			if err != nil {
				return err
			}
		}
		switch {
		case shifted:
			m.w.endTerm(docs)
		case len(list) > 0:
			slices.SortFunc(list, func(a, b posting) int { return cmp.Compare(a.doc, b.doc) })
			m.w.term(least, list)
		}
	}
}

// shift returns the new number of the first document of a source that is one span.
func (m *merger) shift(source int) uint32 {
	if len(m.of[source]) == 0 {
		return 0
	}
	return m.of[source][0].at
}

// appendShifted appends the postings b of a term, all of whose documents get a number that is
// higher by shift. last is the document of the posting before them, and then that of the last of
// them.
func appendShifted(
	to []byte, last uint32, b []byte, docs, most int, shift uint32,
) ([]byte, uint32, error) {
	p := postings{b: b, left: docs, most: most}
	if err := p.next(); err != nil || p.doc == noDoc {
		return to, last, err
	}
	to = appendPosting(to, last, posting{doc: p.doc + shift, count: p.count})
	to = append(to, p.b...)
	for p.left > 0 {
		if err := p.next(); err != nil {
			return to, last, err
		}
	}
	if len(p.b) > 0 {
		return to, last, damaged("postings")
	}
	return to, p.doc + shift, nil
}

// appendPlaced appends the postings of a source with the new numbers of their documents.
func (m *merger) appendPlaced(list []posting, source int, h *termReader) ([]posting, error) {
	spans := m.of[source]
	err := eachPosting(h.postings, h.docs, h.s.docs, func(doc uint32, count uint8) {
		if len(spans) > 0 && doc >= spans[0].end {
			spans = spans[sort.Search(len(spans), func(i int) bool { return doc < spans[i].end }):]
		}
		if len(spans) > 0 && doc >= spans[0].first {
			list = append(list, posting{doc: spans[0].at + doc - spans[0].first, count: count})
		}
	})
	return list, err
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
	rows     []byte // of terms, from next on
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
	if r.next == 0 {
		r.to = r.s.atPostings
	}
	if len(r.rows) == 0 {
		r.rows = make([]byte, min(termsAhead, r.s.terms-r.next)*termLen)
		if err := readFull(r.s.r, r.rows, r.s.atTerms+int64(r.next)*termLen); err != nil {
			return err
		}
	}
	term, length, docs := decodeTerm(r.rows)
	if r.next > 0 && term <= r.term {
		return damaged("terms out of order")
	}
	from, to := r.to, r.to+length
	if to > r.s.atTerms {
		return damaged("terms")
	}
	r.to = to
	r.term, r.docs = term, docs
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
