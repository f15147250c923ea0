package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// lane goes through the visible documents of a source that have a term of the query, in order. It
// decodes the postings of a few documents at a time, so a query needs the same memory for a million
// documents as for a thousand.
type lane struct {
	r       *ranking
	source  uint32
	s       *Source
	numbers []uint32 // of the sessions of the source: their indexes in names
	end     uint32   // the document after the last one
	heads   []head
	gone    []uint32 // documents that are not visible, from base on

	// The documents from base up to, but not including, base+laneDocs.
	base   uint32
	left   [laneDocs / 64]uint64 // a bit for each document that is to come
	word   int                   // index of the first word of left that is not 0
	counts []uint8               // by head and document

	rows   []byte // hot rows from rowsAt on
	rowsAt uint32

	opened bool // the heads are at their first postings
	done   bool
	// The place of the next document. Before the lane is opened, no document is before it.
	run     int
	session uint32
	seq     uint64
	doc     uint32
}

// laneDocs is the number of documents whose postings are decoded at a time. hotBlock is a multiple
// of it.
const laneDocs = 1024

// head is a place in the postings of a term of the query.
type head struct {
	postings
	term uint8
}

// lanes begins a lane for each source that has documents of the query.
func (r *ranking) lanes() []*lane {
	var list []*lane
	for i := range r.parts {
		p := &r.parts[i]
		if p.values == 0 {
			continue
		}
		s := &r.sources[p.source]
		l := &lane{r: r, source: p.source, s: s, numbers: r.numbers[p.source], end: p.end,
			gone: p.gone, doc: p.first}
		for t, at := range p.terms {
			if at.docs > 0 {
				h := head{term: uint8(t),
					postings: postings{r: s.r, at: at.from, to: at.to, left: at.docs, most: s.docs}}
				l.heads = append(l.heads, h)
			}
		}
		l.place()
		list = append(list, l)
	}
	return list
}

// open moves to the first document.
func (l *lane) open() error {
	l.opened = true
	l.counts = l.r.room(len(l.heads) * laneDocs)
	first := l.doc
	for i := range l.heads {
		h := &l.heads[i]
		h.room = l.r.room(postingsRead)
		for begun := false; !begun || h.doc < first; begun = true {
			if err := h.next(); err != nil {
				return err
			}
		}
	}
	return l.next()
}

// place sets the place of doc.
func (l *lane) place() {
	for l.doc >= l.runEnd() {
		l.run++
	}
	at := &l.s.runs[l.run]
	l.session, l.seq = l.numbers[at.session], at.seq+uint64(l.doc-at.doc)
}

// runEnd returns the document after the last one of the run.
func (l *lane) runEnd() uint32 { return l.s.runStart(l.run + 1) }

// next moves to the next document.
func (l *lane) next() error {
	for {
		for l.word < len(l.left) && l.left[l.word] == 0 {
			l.word++
		}
		if l.word < len(l.left) {
			l.doc = l.base + uint32(l.word*64+bits.TrailingZeros64(l.left[l.word]))
			l.place()
			return nil
		}
		if more, err := l.decode(); err != nil || !more {
			l.close()
			return err
		}
	}
}

// decode decodes the postings of the next documents. more is false if there are none.
func (l *lane) decode() (more bool, err error) {
	base := noDoc
	for i := range l.heads {
		base = min(base, l.heads[i].doc)
	}
	if base >= l.end {
		return false, nil
	}
	base -= base % laneDocs
	l.base, l.word = base, 0
	clear(l.counts)
	for i := range l.heads {
		if err := l.heads[i].countTo(l.countsOf(i), base); err != nil {
			return false, err
		}
	}
	l.findLeft()
	return true, l.readRows()
}

// readRows reads the hot rows of the documents.
func (l *lane) readRows() error {
	at := l.base - l.base%hotBlock
	if len(l.rows) > 0 && l.rowsAt == at {
		return nil
	}
	if l.rows == nil {
		l.rows = l.r.room(hotBlock * hotLen)
	}
	l.rowsAt = at
	return readFull(l.s.r, l.rows[:min(hotBlock, l.s.docs-int(at))*hotLen], int64(at)*hotLen)
}

func (l *lane) countsOf(head int) []uint8 { return l.counts[head*laneDocs:][:laneDocs] }

// countTo sets the counts of the documents from base on, and moves to the posting after them.
func (p *postings) countTo(counts []uint8, base uint32) error {
	counts = counts[:laneDocs]
	for at := p.doc - base; at < laneDocs; at = p.doc - base {
		counts[at] = p.count
		// The same as next for postings of one or two bytes, which almost all are.
		b, left, most, doc, count := p.b, p.left, uint32(p.most), p.doc, p.count
		for left > 0 && len(b) >= maxPosting && b[0] >= 4 && b[0] < 0x80 {
			doc += uint32(b[0] >> 2)
			if count = b[0] & 3; count == 0 {
				count = b[1]
				b = b[2:]
				if count <= 3 {
					return damaged("postings")
				}
			} else {
				b = b[1:]
			}
			if doc >= most {
				return damaged("postings")
			}
			left--
			if at = doc - base; at >= laneDocs {
				break
			}
			counts[at] = count
		}
		moved := left < p.left
		p.b, p.left, p.doc, p.count = b, left, doc, count
		if moved && p.doc-base >= laneDocs {
			return nil
		}
		if err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

// findLeft sets the bits of the documents that have a count, are visible and before the end.
func (l *lane) findLeft() {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	for word := range l.left {
		set := uint64(0)
		for k := range 8 {
			at, any := word*64+k*8, uint64(0)
			for i := range l.heads {
				any |= binary.LittleEndian.Uint64(l.counts[i*laneDocs+at:])
			}
			any = ((any & low) + low | any) & high // the highest bit of each byte that is not 0
			set |= any >> 7 * 0x0102040810204080 >> 56 << (k * 8)
		}
		l.left[word] = set
	}
	for ; len(l.gone) > 0 && l.gone[0] < l.base+laneDocs; l.gone = l.gone[1:] {
		if at := l.gone[0] - l.base; l.gone[0] >= l.base {
			l.left[at/64] &^= 1 << (at % 64)
		}
	}
	for at := l.end - l.base; at < laneDocs; at++ {
		l.left[at/64] &^= 1 << (at % 64)
	}
}

// take appends documents to the items of the ranking: the next one, and those after it that are
// before the next document of another lane, up to most items. other may be nil.
func (l *lane) take(other *lane, most int) error {
	r := l.r
	for once := true; once ||
		len(r.items) < most && (other == nil || l.comparePlace(other) < 0); once = false {
		limit := uint64(math.MaxUint64)
		if other != nil && l.session == other.session {
			limit = other.seq
		}
		l.takeWord(most, limit)
		if err := l.next(); err != nil || l.done {
			return err
		}
	}
	return nil
}

// takeWord is take for the documents of one word of left and one run whose seqs are below limit.
// The first one is taken in any case.
func (l *lane) takeWord(most int, limit uint64) {
	r := l.r
	run := &l.s.runs[l.run]
	end := l.runEnd()
	set := l.left[l.word]
	n := len(r.values)
	r.values = slices.Grow(r.values, (bits.OnesCount64(set)+1)*len(l.heads))
	values := r.values[:cap(r.values)]
	for first := true; set != 0; first = false {
		at := l.word*64 + bits.TrailingZeros64(set)
		doc := l.base + uint32(at)
		seq := run.seq + uint64(doc-run.doc)
		if !first && (doc >= end || seq >= limit || len(r.items) >= most) {
			break
		}
		row := l.rows[int(doc-l.rowsAt)*hotLen:][:hotLen]
		it := item{seq: seq, session: l.session, source: l.source, doc: doc, from: uint32(n),
			kind: r.kindOf(l.source, row)}
		for i := range l.heads {
			c := l.counts[i*laneDocs+at]
			values[n] = value{term: l.heads[i].term, count: c}
			n += int(uint32(c)+255) >> 8 // 1 if c is not 0
		}
		it.has = uint8(n - int(it.from))
		if r.q.must > 0 {
			it.must = r.mustOf(values[it.from:n])
		}
		r.items = append(r.items, it)
		set &= set - 1
	}
	r.values = r.values[:n]
	l.left[l.word] = set
}

// close ends a lane.
func (l *lane) close() {
	l.done = true
	for i := range l.heads {
		l.r.spare(l.heads[i].room)
	}
	l.r.spare(l.counts)
	l.r.spare(l.rows)
	l.heads, l.counts, l.rows = nil, nil, nil
}

// comparePlace compares the places of the next documents.
func (l *lane) comparePlace(o *lane) int {
	return cmp.Or(cmp.Compare(l.session, o.session), cmp.Compare(l.seq, o.seq))
}

// before reports whether the next document of a lane is before that of another one: by session, seq
// and id, which is the order in a single source. A lane that is not opened may have any document at
// its place.
func (l *lane) before(o *lane) (bool, error) {
	if c := l.comparePlace(o); c != 0 {
		return c < 0, nil
	}
	if !l.opened || !o.opened {
		return !l.opened && o.opened, nil
	}
	_, a, err := l.s.cold(l.doc)
	if err != nil {
		return false, err
	}
	_, b, err := o.s.cold(o.doc)
	return bytes.Compare(a[:], b[:]) < 0, err
}

// room returns a slice of n bytes that are 0 or were given to spare.
func (r *ranking) room(n int) []byte {
	if i := slices.IndexFunc(r.rooms, func(b []byte) bool { return len(b) == n }); i >= 0 {
		b := r.rooms[i]
		r.rooms = slices.Delete(r.rooms, i, i+1)
		return b
	}
	return make([]byte, n)
}

// spare gives a slice back.
func (r *ranking) spare(b []byte) {
	if b != nil {
		r.rooms = append(r.rooms, b)
	}
}
