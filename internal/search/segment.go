package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Segment is a part of the index. A query reads only the bytes that it needs, and these never
// change. A Segment must not be used by several goroutines at once.
type Segment struct {
	r                     io.ReaderAt
	docs, versions, terms int
	atPrints              int64
	atCold, atVersions    int64
	atPostings, atTerms   int64
	runs                  []run
	sessions, authors     []string
	hot                   [][]byte // blocks of hot rows; nil before they are read
	prints                []byte   // a block of prints; nil before the first was read
	printsAt              uint32   // its first document
}

// run is a sequence of documents with consecutive seqs in one session.
type run struct {
	session uint32
	doc     uint32
	seq     uint64
}

// ErrDamaged says that bytes are no valid segment or manifest.
var ErrDamaged = errors.New("damaged search index")

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }

// OpenSegment reads the parts that every query needs: trailer, runs and names. It accepts the
// output of Builder and Merge. For other bytes OpenSegment returns ErrDamaged, or a later read of
// the damaged part does.
func OpenSegment(r io.ReaderAt, size int64) (*Segment, error) {
	if size < trailerLen {
		return nil, damaged("cut short")
	}
	t := make([]byte, trailerLen)
	if err := readFull(r, t, size-trailerLen); err != nil {
		return nil, err
	}
	if string(t[:8]) != trailMagic {
		return nil, damaged("not a segment")
	}
	n := make([]int64, 6)
	for i := range n {
		n[i] = int64(binary.BigEndian.Uint32(t[8+4*i:]))
	}
	at := make([]int64, sections) // the ends of the sections
	for i := range at[:sections-1] {
		at[i] = int64(binary.BigEndian.Uint64(t[8+4*6+8*i:]))
	}
	at[sections-1] = size - trailerLen
	docs, versions, runs, sessions, authors, terms := n[0], n[1], n[2], n[3], n[4], n[5]
	for i, v := range at {
		if v < 0 || v > size || i > 0 && v < at[i-1] {
			return nil, damaged("sections out of order")
		}
	}
	if docs > maxDocs || at[0] != docs*hotLen || at[1]-at[0] != docs*printLen ||
		at[2]-at[1] != docs*coldLen ||
		at[3]-at[2] != versions*versionLen || at[4]-at[3] != runs*runLen ||
		at[8]-at[7] != terms*termLen+(terms+termBlock-1)/termBlock*offsetLen ||
		runs > docs || versions > docs {
		return nil, damaged("sections of the wrong size")
	}
	s := &Segment{
		r: r, docs: int(docs), versions: int(versions), terms: int(terms), atPrints: at[0],
		atCold: at[1], atVersions: at[2], atPostings: at[6], atTerms: at[7],
		hot: make([][]byte, (docs+hotBlock-1)/hotBlock),
	}
	var err error
	if s.sessions, err = readNames(r, at[4], at[5], sessions); err != nil {
		return nil, err
	}
	if s.authors, err = readNames(r, at[5], at[6], authors); err != nil {
		return nil, err
	}
	return s, s.readRuns(at[3], int(runs))
}

func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = damaged("cut short")
	}
	return err
}

func readNames(r io.ReaderAt, from, to, n int64) ([]string, error) {
	if n > to-from {
		return nil, damaged("names")
	}
	b := make([]byte, to-from)
	if err := readFull(r, b, from); err != nil {
		return nil, err
	}
	list := make([]string, n)
	for i := range list {
		size, k := binary.Uvarint(b)
		if k <= 0 || size > uint64(len(b)-k) {
			return nil, damaged("names")
		}
		list[i], b = string(b[k:k+int(size)]), b[k+int(size):]
	}
	if len(b) != 0 {
		return nil, damaged("names")
	}
	return list, nil
}

func (s *Segment) readRuns(at int64, n int) error {
	b := make([]byte, n*runLen)
	if err := readFull(s.r, b, at); err != nil {
		return err
	}
	s.runs = make([]run, n)
	for i := range s.runs {
		v := run{session: binary.BigEndian.Uint32(b), doc: binary.BigEndian.Uint32(b[4:]),
			seq: binary.BigEndian.Uint64(b[8:])}
		if int(v.session) >= len(s.sessions) || int(v.doc) >= s.docs || i == 0 && v.doc != 0 ||
			i > 0 && v.doc <= s.runs[i-1].doc {
			return damaged("runs")
		}
		if i > 0 && s.sessions[v.session] < s.sessions[s.runs[i-1].session] {
			return damaged("runs out of order")
		}
		s.runs[i], b = v, b[runLen:]
	}
	if (n == 0) != (s.docs == 0) {
		return damaged("runs")
	}
	return nil
}

// Docs returns the number of documents, which are numbered from 0.
func (s *Segment) Docs() int { return s.docs }

// runOf returns the index of the run that holds doc.
func (s *Segment) runOf(doc uint32) int {
	return sort.Search(len(s.runs), func(i int) bool { return s.runs[i].doc > doc }) - 1
}

// place returns a document's session and seq.
func (s *Segment) place(doc uint32) (session string, seq uint64) {
	r := s.runs[s.runOf(doc)]
	return s.sessions[r.session], r.seq + uint64(doc-r.doc)
}

// Range returns the documents of a session: from first up to, but not including, end.
func (s *Segment) Range(session string) (first, end uint32) {
	i := sort.Search(len(s.runs),
		func(i int) bool { return s.sessions[s.runs[i].session] >= session })
	j := sort.Search(len(s.runs),
		func(i int) bool { return s.sessions[s.runs[i].session] > session })
	return s.runStart(i), s.runStart(j)
}

func (s *Segment) runStart(i int) uint32 {
	if i == len(s.runs) {
		return uint32(s.docs)
	}
	return s.runs[i].doc
}

// seqRange returns the documents of a session whose seq is from low to high: from first up to, but
// not including, end.
func (s *Segment) seqRange(session string, low, high uint64) (first, end uint32) {
	a, b := s.Range(session)
	seqAt := func(i int) uint64 { _, seq := s.place(a + uint32(i)); return seq }
	i := sort.Search(int(b-a), func(i int) bool { return seqAt(i) >= low })
	j := sort.Search(int(b-a), func(i int) bool { return seqAt(i) > high })
	return a + uint32(i), a + uint32(j)
}

// HasFrom reports whether the segment has documents of a session past a seq, or documents at that
// seq whose ids are wanted.
func (s *Segment) HasFrom(session string, seq uint64, wanted func(format.ID) bool) (bool, error) {
	first, end := s.seqRange(session, seq, math.MaxUint64)
	for doc := first; doc < end; doc++ {
		if _, at := s.place(doc); at > seq {
			return true, nil
		}
		if _, id, err := s.cold(doc); err != nil || wanted(id) {
			return true, err
		}
	}
	return false, nil
}

// printBlock is the number of prints that are read at a time: those of a page or two.
const printBlock = 256

// hotBlock is the number of hot rows that are read at a time.
const hotBlock = 2048

// hotRow returns what every score of a document needs: its length, attr and author.
func (s *Segment) hotRow(doc uint32) ([]byte, error) {
	n := doc / hotBlock
	b := s.hot[n]
	if b == nil {
		from := int64(n) * hotBlock * hotLen
		b = make([]byte, min(hotBlock*hotLen, s.atPrints-from))
		if err := readFull(s.r, b, from); err != nil {
			return nil, err
		}
		s.hot[n] = b
	}
	return b[(doc%hotBlock)*hotLen:][:hotLen], nil
}

// attr returns the attr of a document.
func (s *Segment) attr(doc uint32) (uint8, error) {
	row, err := s.hotRow(doc)
	if err != nil {
		return 0, err
	}
	return row[1], nil
}

// cold returns a document's time and id.
func (s *Segment) cold(doc uint32) (time.Time, format.ID, error) {
	var b [coldLen]byte
	if err := readFull(s.r, b[:], s.atCold+int64(doc)*coldLen); err != nil {
		return time.Time{}, format.ID{}, err
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b[:]))).UTC(), format.ID(b[8:40]), nil
}

// print returns the fingerprint of a document's text, as printOf computed it. It is fast for
// documents that follow one another.
func (s *Segment) print(doc uint32) (uint64, error) {
	at := doc - doc%printBlock
	if len(s.prints) == 0 || s.printsAt != at {
		b := slices.Grow(s.prints[:0], printBlock*printLen)[:min(printBlock,
			s.docs-int(at))*printLen]
		s.prints = nil
		if err := readFull(s.r, b, s.atPrints+int64(at)*printLen); err != nil {
			return 0, err
		}
		s.prints, s.printsAt = b, at
	}
	return binary.BigEndian.Uint64(s.prints[(doc-at)*printLen:]), nil
}

// version returns the entry that has a document's text; id is the document's id.
func (s *Segment) version(doc uint32, id format.ID) (format.ID, error) {
	var b [versionLen]byte
	var err error
	read := func(i int) uint32 {
		if err == nil {
			err = readFull(s.r, b[:], s.atVersions+int64(i)*versionLen)
		}
		return binary.BigEndian.Uint32(b[:])
	}
	i := sort.Search(s.versions, func(i int) bool { return read(i) >= doc })
	if i < s.versions && read(i) == doc && err == nil {
		return format.ID(b[4:]), nil
	}
	return id, err
}

// Find returns the documents of an entry in all versions. There is rarely more than one.
func (s *Segment) Find(session string, seq uint64, id format.ID) ([]uint32, error) {
	first, end := s.seqRange(session, seq, seq)
	var list []uint32
	for doc := first; doc < end; doc++ {
		_, got, err := s.cold(doc)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(got[:], id[:]) {
			list = append(list, doc)
		}
	}
	return list, nil
}

// Entry returns a document's entry, and the entry that has its text.
func (s *Segment) Entry(doc uint32) (id, version format.ID, err error) {
	if _, id, err = s.cold(doc); err == nil {
		version, err = s.version(doc, id)
	}
	return id, version, err
}

// lookup returns the byte range of a term's postings and the number of documents that have the
// term.
func (s *Segment) lookup(term uint64) (from, to int64, docs int, err error) {
	var b [termBlock * termLen]byte
	read := func(from, n int) []byte {
		if err == nil {
			err = readFull(s.r, b[:n*termLen], s.atTerms+int64(from)*termLen)
		}
		return b[:n*termLen]
	}
	term = storedTerm(term)
	i := sort.Search(s.terms, func(i int) bool {
		is, _, _ := decodeTerm(read(i, 1))
		return is >= term
	})
	if err != nil || i == s.terms {
		return 0, 0, 0, err
	}
	first := i - i%termBlock
	at := s.atTerms + int64(s.terms)*termLen + int64(i/termBlock)*offsetLen
	if err = readFull(s.r, b[:offsetLen], at); err != nil {
		return 0, 0, 0, err
	}
	to = s.atPostings + int64(binary.BigEndian.Uint64(b[:]))
	is, length := uint64(0), int64(0)
	for rows := read(first, i+1-first); len(rows) > 0; rows = rows[termLen:] {
		is, length, docs = decodeTerm(rows)
		from, to = to, to+length
	}
	if is != term || err != nil {
		return 0, 0, 0, err
	}
	if from < s.atPostings || to > s.atTerms || int64(docs) > length || docs > s.docs {
		err = damaged("terms")
	}
	return from, to, docs, err
}

// noDoc is no document.
const noDoc = ^uint32(0)

// postings reads the postings of a term one after the other.
type postings struct {
	b          []byte
	left, most int // the numbers of postings that follow, and of documents of the segment
	begun      bool
	doc        uint32 // noDoc after the last one
	count      uint8
}

// postingsOf returns the postings of a term.
func (s *Segment) postingsOf(term uint64) (*postings, error) {
	from, to, docs, err := s.lookup(term)
	if err != nil {
		return nil, err
	}
	p := &postings{b: make([]byte, to-from), left: docs, most: s.docs}
	return p, readFull(s.r, p.b, from)
}

// next moves to the next posting.
func (p *postings) next() error {
	if p.left == 0 {
		if p.doc = noDoc; len(p.b) != 0 {
			return damaged("postings")
		}
		return nil
	}
	p.left--
	var v uint64
	if len(p.b) > 0 && p.b[0] < 0x80 {
		v, p.b = uint64(p.b[0]), p.b[1:]
	} else {
		n := 0
		if v, n = binary.Uvarint(p.b); n <= 0 {
			return damaged("postings")
		}
		p.b = p.b[n:]
	}
	if p.begun && v>>2 == 0 {
		return damaged("postings")
	}
	p.begun = true
	if p.count = uint8(v & 3); p.count == 0 {
		if len(p.b) == 0 || p.b[0] <= 3 {
			return damaged("postings")
		}
		p.count, p.b = p.b[0], p.b[1:]
	}
	at := uint64(p.doc) + v>>2
	if v>>2 > uint64(p.most) || at >= uint64(p.most) {
		return damaged("postings")
	}
	p.doc = uint32(at)
	return nil
}
