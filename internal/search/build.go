package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// Builder collects documents and writes them as a segment. The zero value is ready for use.
type Builder struct {
	docs   []row
	starts []uint32 // of documents: index of the first of their postings
	// The postings, document by document: number of the term in words, and count.
	numbers []uint32
	counts  []uint8
	words   lexicon
	last    []lastPosting // by number of the term
	list    []posting     // room for Write
}

// lastPosting is the place of the last posting of a term.
type lastPosting struct {
	doc uint32 // 1 for the first document; 0 if no document has the term
	at  uint32 // index of the posting
}

// A Builder is full at these numbers of postings, terms and documents, with about 25 MB.
const (
	fullPostings = 1 << 20
	fullTerms    = 1 << 18
	fullDocs     = 1 << 16
)

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
	rolesKept = 5
)

// roles lists the roles in the order of their numbers. An unknown role has the number 0.
// Those of texts that somebody wanted remembered come after the others, from rolesKept on.
var roles = [...]string{"", "user", "model", "tool", "system", "user", "model"}

// Add adds a document. The documents of a segment may come in any order, but no two may have the
// same ID and Version.
func (b *Builder) Add(d Doc) {
	b.starts = append(b.starts, uint32(len(b.numbers)))
	a := b.analyse(d.Text)
	r := row{
		id: d.ID, version: d.Version, session: d.Session, author: d.Author, seq: d.Seq,
		time: d.Time.UnixMilli(), length: a.length,
		attr: uint8(max(0, slices.Index(roles[:], d.Role))), print: a.print,
	}
	if d.Note {
		r.attr |= attrNote
	}
	if role := r.attr & attrRole; d.Kept && (role == roleUser || role == roleModel) {
		r.attr += rolesKept - roleUser
	}
	for _, is := range [...]struct {
		set bool
		bit uint8
	}{{a.question, attrQuestion}, {a.number, attrNumber}, {a.when, attrWhen}, {d.Calls, attrCall}} {
		if is.set {
			r.attr |= is.bit
		}
	}
	if len(b.docs) == cap(b.docs) {
		// By half as much, all would be copied more often
		b.docs = slices.Grow(b.docs, max(len(b.docs), 64))
	}
	b.docs = append(b.docs, r)
}

// analyse adds the postings of a text, and returns the rest of what the index stores of it.
func (b *Builder) analyse(text string) analysed {
	whole := len(text)
	folded, text := Fold(text), cutText(text)
	a := analysed{print: printOfFolded(folded)}
	if len(text) < whole {
		folded = Fold(text)
	}
	doc, first, length := uint32(len(b.docs)+1), len(b.numbers), 0
	for i, j := terms.NextRun(folded, 0); i < j; i, j = terms.NextRun(folded, j) {
		found, run := b.words.of(folded[i:j])
		length += int(run.length)
		a.number, a.when = a.number || run.number, a.when || run.when
		for _, f := range found {
			if int(f.number) >= len(b.last) {
				b.last = append(b.last, make([]lastPosting, len(b.words.terms)-len(b.last))...)
			}
			if last := &b.last[f.number]; last.doc == doc {
				b.counts[last.at] = uint8(min(int(b.counts[last.at])+int(f.count), maxCount))
			} else {
				*last = lastPosting{doc: doc, at: uint32(len(b.numbers))}
				b.numbers, b.counts = append(b.numbers, f.number), append(b.counts, f.count)
			}
		}
	}
	if len(b.numbers)-first > maxTerms {
		b.keepFrequent(first)
	}
	a.length, a.question = lengthClass(length), isQuestion(text)
	return a
}

// keepFrequent keeps the maxTerms most frequent postings from first on.
func (b *Builder) keepFrequent(first int) {
	list := make([]foundTerm, 0, len(b.numbers)-first)
	for i, number := range b.numbers[first:] {
		list = append(list, foundTerm{number: number, count: b.counts[first+i]})
	}
	slices.SortFunc(list, func(x, y foundTerm) int {
		return cmp.Or(cmp.Compare(y.count, x.count),
			cmp.Compare(b.words.terms[x.number], b.words.terms[y.number]))
	})
	b.numbers, b.counts = b.numbers[:first], b.counts[:first]
	for _, f := range list[:maxTerms] {
		b.numbers, b.counts = append(b.numbers, f.number), append(b.counts, f.count)
	}
}

// Docs returns the number of added documents.
func (b *Builder) Docs() int { return len(b.docs) }

// Full reports whether the builder should be written.
func (b *Builder) Full() bool {
	return len(b.numbers) >= fullPostings || len(b.words.terms) >= fullTerms ||
		len(b.docs) >= fullDocs
}

// Segment returns the added documents as a segment, with its bytes, and empties the builder.
func (b *Builder) Segment() (*Segment, []byte, error) {
	var buf bytes.Buffer
	if err := b.Write(&buf); err != nil {
		return nil, nil, err
	}
	b.Reset()
	seg, err := OpenSegment(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	return seg, buf.Bytes(), err
}

// Reset empties the builder.
func (b *Builder) Reset() {
	clear(b.docs)
	b.docs, b.starts, b.numbers, b.counts = b.docs[:0], b.starts[:0], b.numbers[:0], b.counts[:0]
	clear(b.last)
	if len(b.words.terms) > maxLexicon {
		b.words, b.last = lexicon{}, nil
	}
}

// Write writes the added documents as a segment.
func (b *Builder) Write(w io.Writer) error {
	compare := func(x, y uint32) int { return compareRows(&b.docs[x], &b.docs[y]) }
	order := make([]uint32, len(b.docs))
	for i := range order {
		order[i] = uint32(i)
	}
	if !slices.IsSortedFunc(order, compare) {
		slices.SortFunc(order, compare)
	}
	s := newWriter(w, len(order))
	for _, i := range order {
		s.row(&b.docs[i])
	}
	s.endRows()
	// The postings of term i are list[ends[i-1]:ends[i]], terms being in the order of used.
	df := make([]uint32, len(b.words.terms))
	for _, number := range b.numbers {
		df[number]++
	}
	used := make([]uint32, 0, len(df))
	for number, n := range df {
		if n > 0 {
			used = append(used, uint32(number))
		}
	}
	slices.SortFunc(used,
		func(x, y uint32) int { return cmp.Compare(b.words.terms[x], b.words.terms[y]) })
	next := make([]uint32, len(df)) // by number: where its next posting goes
	at := uint32(0)
	for _, number := range used {
		next[number] = at
		at += df[number]
	}
	list := slices.Grow(b.list[:0], len(b.numbers))[:len(b.numbers)]
	b.list = list
	for place, i := range order {
		end := uint32(len(b.numbers))
		if int(i)+1 < len(b.starts) {
			end = b.starts[i+1]
		}
		for k := b.starts[i]; k < end; k++ {
			to := &next[b.numbers[k]]
			list[*to] = posting{doc: uint32(place), count: b.counts[k]}
			*to++
		}
	}
	for _, number := range used {
		n := df[number]
		s.term(b.words.terms[number], list[:n])
		list = list[n:]
	}
	return s.finish()
}

// compareRows defines the order of documents in a segment: by session, then by seq, then by id and
// version.
func compareRows(a, b *row) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq),
		bytes.Compare(a.id[:], b.id[:]), bytes.Compare(a.version[:], b.version[:]))
}

// A segment consists of these sections, in this order: hot rows, prints, cold rows, versions, runs,
// names of sessions, names of authors, postings, terms, trailer. Numbers are big endian.
const (
	hotLen     = 6  // length, attr, author
	printLen   = 8  // see printOf
	coldLen    = 40 // time, id
	versionLen = 36 // document, version; only for documents with the text of an amend
	runLen     = 16 // session, first document, its seq; the next documents have the next seqs
	termLen    = 13 // storedTerm, length of its postings, number of documents that have it
	termBlock  = 64 // terms for each of which there is an offset, after all terms
	offsetLen  = 8
	sections   = 9 // without the trailer
	trailerLen = 8 + 6*4 + (sections-1)*8
	trailMagic = "ctxsrch4"

	// maxDocs is the largest number of documents of a segment.
	maxDocs = 1 << 28
)

// writer writes a segment from sorted rows followed by sorted postings. It needs 48 bytes of memory
// per row, 20 bytes per term, and its runs.
type writer struct {
	w        io.Writer
	err      error
	at       uint64
	prints   []byte
	cold     []byte
	versions []byte
	runs     []byte
	sessions names
	authors  names
	docs     uint32
	next     uint64 // the seq that continues the current run
	session  string
	terms    []byte
	offsets  []byte
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
	return &writer{w: w, prints: make([]byte, 0, docs*printLen),
		cold: make([]byte, 0, docs*coldLen)}
}

func (s *writer) row(r *row) {
	if s.docs == 0 || r.session != s.session || r.seq != s.next {
		s.runs = binary.BigEndian.AppendUint32(s.runs, s.sessions.of(r.session))
		s.runs = binary.BigEndian.AppendUint32(s.runs, s.docs)
		s.runs = binary.BigEndian.AppendUint64(s.runs, r.seq)
	}
	s.session, s.next = r.session, r.seq+1
	s.buf = append(s.buf, r.length, r.attr)
	s.buf = binary.BigEndian.AppendUint32(s.buf, s.authors.of(r.author))
	s.flush(putAhead)
	s.cold = binary.BigEndian.AppendUint64(s.cold, uint64(r.time))
	s.cold = append(s.cold, r.id[:]...)
	s.prints = binary.BigEndian.AppendUint64(s.prints, r.print)
	if r.version != r.id {
		s.versions = binary.BigEndian.AppendUint32(s.versions, s.docs)
		s.versions = append(s.versions, r.version[:]...)
	}
	s.docs++
}

func (s *writer) endRows() {
	if s.docs > maxDocs {
		s.err = cmp.Or(s.err, fmt.Errorf("too many documents for one segment: %d", s.docs))
	}
	s.flush(0)
	s.starts = append(s.starts, s.at)
	for _, section := range [][]byte{s.prints, s.cold, s.versions, s.runs, s.sessions.bytes,
		s.authors.bytes} {
		s.put(section)
		s.starts = append(s.starts, s.at)
	}
	s.prints, s.cold = nil, nil
}

// term writes the postings of a term, sorted by document.
func (s *writer) term(term uint64, list []posting) {
	begun := s.at + uint64(len(s.buf)) - s.starts[6]
	if len(s.terms)%(termBlock*termLen) == 0 {
		s.offsets = binary.BigEndian.AppendUint64(s.offsets, begun)
	}
	last := uint32(0)
	for _, p := range list {
		s.buf = appendPosting(s.buf, last, p)
		last = p.doc
	}
	length := s.at + uint64(len(s.buf)) - s.starts[6] - begun
	s.terms = binary.BigEndian.AppendUint32(append(s.terms, byte(term>>32)), uint32(term))
	s.terms = binary.BigEndian.AppendUint32(s.terms, uint32(length))
	s.terms = binary.BigEndian.AppendUint32(s.terms, uint32(len(list)))
	s.flush(putAhead)
}

// storedTerm returns the 40 bits by which a term is stored: of a million terms one may be taken for
// another.
func storedTerm(term uint64) uint64 { return term * 0x9e3779b97f4a7c15 >> 24 }

// decodeTerm returns what a row of the terms has.
func decodeTerm(b []byte) (term uint64, length int64, docs int) {
	return uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:])),
		int64(binary.BigEndian.Uint32(b[5:])), int(binary.BigEndian.Uint32(b[9:]))
}

// appendPosting appends a posting: the distance to the document before times four, plus the count
// if that is at most 3. For a larger count the two bits are 0 and the count follows as a byte.
func appendPosting(b []byte, last uint32, p posting) []byte {
	short := p.count
	if short > 3 {
		short = 0
	}
	if v := (p.doc-last)<<2 | uint32(short); v < 0x80 { // doc is less than maxDocs
		b = append(b, byte(v))
	} else {
		b = binary.AppendUvarint(b, uint64(v))
	}
	if short == 0 {
		b = append(b, p.count)
	}
	return b
}

// putAhead is the number of bytes that are written at a time.
const putAhead = 64 << 10

func (s *writer) finish() error {
	s.flush(0)
	s.starts = append(s.starts, s.at)
	s.put(s.terms)
	s.put(s.offsets)
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

// flush writes buf if it has at least so many bytes.
func (s *writer) flush(least int) {
	if len(s.buf) >= least {
		s.put(s.buf)
		s.buf = s.buf[:0]
	}
}

func (s *writer) put(b []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
	s.at += uint64(len(b))
}

// madeOnce is a map that is made when it is first asked for, because most commands do not search. A
// variable with a sync.OnceValue would be made at the start of every program.
type madeOnce[K comparable] struct {
	make func() map[K]string
	once sync.Once
	made map[K]string
}

func (m *madeOnce[K]) get() map[K]string {
	m.once.Do(func() { m.made = m.make() })
	return m.made
}
