package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Builder collects documents and writes them as a segment. It needs about 20 bytes of memory for
// each distinct term of each document.
type Builder struct {
	docs     []row
	postings []posting // doc is the index in docs
}

// row is the part of a document that a segment stores beside its terms.
type row struct {
	id, version format.ID
	session     string
	author      string
	seq         uint64
	time        int64 // Unix milliseconds
	length      uint8
	attr        uint8
	print       uint64 // see printOf
}

// The bits of attr: the index of the role in roles, and properties of the message.
const (
	attrRole     = 7
	attrNote     = 8
	attrQuestion = 16
	attrNumber   = 32
	attrWhen     = 64
	attrCall     = 128

	roleUser  = 1 // indexes in roles
	roleModel = 2
	roleTool  = 3
)

// roles lists the roles in the order of their numbers. An unknown role has the number 0.
var roles = [...]string{"", "user", "model", "tool", "system"}

// Add adds a document. The documents of a segment may come in any order, but no two may have the
// same ID and Version.
func (b *Builder) Add(d Doc) {
	a := analyse(d.Text)
	r := row{
		id: d.ID, version: d.Version, session: d.Session, author: d.Author, seq: d.Seq, time: d.Time.UnixMilli(), length: a.length,
		attr: uint8(max(0, slices.Index(roles[:], d.Role))), print: printOf(d.Text),
	}
	if d.Note {
		r.attr |= attrNote
	}
	for _, is := range []struct {
		set bool
		bit uint8
	}{{a.question, attrQuestion}, {a.number, attrNumber}, {a.when, attrWhen}, {d.Calls, attrCall}} {
		if is.set {
			r.attr |= is.bit
		}
	}
	for _, p := range a.counts {
		b.postings = append(b.postings, posting{term: p.term, count: p.count, doc: uint32(len(b.docs))})
	}
	b.docs = append(b.docs, r)
}

// Docs returns the number of added documents.
func (b *Builder) Docs() int { return len(b.docs) }

// Full reports whether the builder should be written, because it holds about 25 MB.
func (b *Builder) Full() bool { return len(b.postings) >= 1<<20 }

// Segment returns the added documents as a segment, with its bytes, and empties the builder.
func (b *Builder) Segment() (*Segment, []byte, error) {
	var buf bytes.Buffer
	if err := b.write(&buf); err != nil {
		return nil, nil, err
	}
	seg, err := OpenSegment(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	clear(b.docs)
	b.docs, b.postings = b.docs[:0], b.postings[:0]
	return seg, buf.Bytes(), err
}

func (b *Builder) write(w io.Writer) error {
	order := make([]uint32, len(b.docs))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return compareRows(&b.docs[x], &b.docs[y]) })
	place := make([]uint32, len(order))
	sorted := make([]row, len(order))
	for i, old := range order {
		place[old], sorted[i] = uint32(i), b.docs[old]
	}
	for i := range b.postings {
		b.postings[i].doc = place[b.postings[i].doc]
	}
	slices.SortFunc(b.postings, func(x, y posting) int {
		return cmp.Or(cmp.Compare(x.term, y.term), cmp.Compare(x.doc, y.doc))
	})
	s := newWriter(w, len(sorted))
	for _, r := range sorted {
		s.row(r)
	}
	s.endRows()
	for rest := b.postings; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].term == rest[0].term {
			n++
		}
		s.term(rest[0].term, rest[:n])
		rest = rest[n:]
	}
	return s.finish()
}

// compareRows defines the order of documents in a segment: by session, then by seq, then by id and
// version.
func compareRows(a, b *row) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq), bytes.Compare(a.id[:], b.id[:]), bytes.Compare(a.version[:], b.version[:]))
}

// A segment consists of these sections, in this order: hot rows, cold rows, versions, runs, names
// of sessions, names of authors, postings, terms, trailer. Numbers are big endian.
const (
	hotLen     = 6  // length, attr, author
	coldLen    = 48 // time, id, print
	versionLen = 36 // document, version; only for documents with the text of an amend
	runLen     = 16 // session, first document, its seq; the next documents have the next seqs
	termLen    = 20 // term, offset of its postings, number of documents that have it
	trailerLen = 8 + 6*4 + 7*8
	trailMagic = "ctxsrch2"

	// maxDocs is the largest number of documents of a segment.
	maxDocs = 1 << 28
)

// writer writes a segment in one pass from sorted rows followed by sorted postings. It needs 40
// bytes of memory per document, 20 bytes per term, and its runs.
type writer struct {
	w        io.Writer
	err      error
	at       uint64
	cold     []byte
	versions []byte
	runs     []byte
	sessions names
	authors  names
	docs     uint32
	next     uint64 // the seq that continues the current run
	session  string
	terms    []byte
	starts   []uint64 // offsets of the sections after the first
	buf      []byte
}

// names numbers strings in the order of their first occurrence.
type names struct {
	number map[string]uint32
	bytes  []byte
}

func (n *names) of(s string) uint32 {
	i, ok := n.number[s]
	if !ok {
		if n.number == nil {
			n.number = map[string]uint32{}
		}
		i = uint32(len(n.number))
		n.number[s] = i
		n.bytes = binary.AppendUvarint(n.bytes, uint64(len(s)))
		n.bytes = append(n.bytes, s...)
	}
	return i
}

// newWriter begins a segment of at most docs documents.
func newWriter(w io.Writer, docs int) *writer {
	return &writer{w: w, cold: make([]byte, 0, docs*coldLen)}
}

func (s *writer) row(r row) {
	if s.docs == 0 || r.session != s.session || r.seq != s.next {
		s.runs = binary.BigEndian.AppendUint32(s.runs, s.sessions.of(r.session))
		s.runs = binary.BigEndian.AppendUint32(s.runs, s.docs)
		s.runs = binary.BigEndian.AppendUint64(s.runs, r.seq)
	}
	s.session, s.next = r.session, r.seq+1
	s.buf = append(s.buf[:0], r.length, r.attr)
	s.put(binary.BigEndian.AppendUint32(s.buf, s.authors.of(r.author)))
	s.cold = binary.BigEndian.AppendUint64(s.cold, uint64(r.time))
	s.cold = append(s.cold, r.id[:]...)
	s.cold = binary.BigEndian.AppendUint64(s.cold, r.print)
	if r.version != r.id {
		s.versions = binary.BigEndian.AppendUint32(s.versions, s.docs)
		s.versions = append(s.versions, r.version[:]...)
	}
	s.docs++
}

func (s *writer) endRows() {
	if s.docs > maxDocs && s.err == nil {
		s.err = fmt.Errorf("too many documents for one segment: %d", s.docs)
	}
	s.starts = append(s.starts, s.at)
	for _, section := range [][]byte{s.cold, s.versions, s.runs, s.sessions.bytes, s.authors.bytes} {
		s.put(section)
		s.starts = append(s.starts, s.at)
	}
	s.cold = nil
}

// term writes the postings of a term, sorted by document. A posting is the distance to the previous
// document times four, plus the count if that is at most 3. For a larger count the two bits are 0
// and the count follows as a byte.
func (s *writer) term(term uint64, list []posting) {
	s.terms = binary.BigEndian.AppendUint64(s.terms, term)
	s.terms = binary.BigEndian.AppendUint64(s.terms, s.at-s.starts[5])
	s.terms = binary.BigEndian.AppendUint32(s.terms, uint32(len(list)))
	s.buf = s.buf[:0]
	last := uint32(0)
	for _, p := range list {
		short := p.count
		if short > 3 {
			short = 0
		}
		s.buf = binary.AppendUvarint(s.buf, uint64(p.doc-last)<<2|uint64(short))
		if short == 0 {
			s.buf = append(s.buf, p.count)
		}
		last = p.doc
	}
	s.put(s.buf)
}

func (s *writer) finish() error {
	s.starts = append(s.starts, s.at)
	s.put(s.terms)
	t := []byte(trailMagic)
	t = binary.BigEndian.AppendUint32(t, s.docs)
	t = binary.BigEndian.AppendUint32(t, uint32(len(s.versions)/versionLen))
	t = binary.BigEndian.AppendUint32(t, uint32(len(s.runs)/runLen))
	t = binary.BigEndian.AppendUint32(t, uint32(len(s.sessions.number)))
	t = binary.BigEndian.AppendUint32(t, uint32(len(s.authors.number)))
	t = binary.BigEndian.AppendUint32(t, uint32(len(s.terms)/termLen))
	for _, at := range s.starts {
		t = binary.BigEndian.AppendUint64(t, at)
	}
	s.put(t)
	return s.err
}

func (s *writer) put(b []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
	s.at += uint64(len(b))
}
