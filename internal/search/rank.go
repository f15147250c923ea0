package search

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Source is a segment with the later changes of its documents.
type Source struct {
	*Segment
	// Hidden has the documents that are in no history any more. The value is true if the document
	// was rewound.
	Hidden map[uint32]bool
}

// Options restrict the documents of a search.
type Options struct {
	Session string    // only messages of this session; "" for all
	Except  string    // no messages of this session; "" for none
	Role    string    // only messages with this role; "" for all
	Since   time.Time // only messages of this time or later; the zero Time for all
	Until   time.Time // only messages before this time; the zero Time for all
	Rewound bool      // also rewound messages
	Limit   int       // largest number of hits
	// Whole is the largest number of further hits that have every term of the query, those with the
	// highest own scores first: one of them may contain the query word for word.
	Whole int
	// Only restricts RankSessions to these messages; nil for all.
	Only map[format.ID]bool
}

// inTime reports whether a time is between Since and Until.
func (o *Options) inTime(t time.Time) bool {
	return !t.Before(o.Since) && (o.Until.IsZero() || t.Before(o.Until))
}

// Hit is a found document. Scores are comparable only within one query.
type Hit struct {
	ID, Version format.ID
	Session     string
	Seq         uint64
	Score       float64
	Whole       bool // it has every term of the query
	Equal       bool // it has only the words of the query; known if Options.Whole is not 0
	Spare       bool // it is one of the further hits of Options.Whole
	Rewound     bool
	Copies      []Hit // documents with the same words, which are no hits of their own; without scores
}

// Rank returns the documents that answer q best, the best first. At equal scores the higher seq
// comes first, then the smaller id. The result depends only on the documents that are visible in
// the requested session, not on their distribution over sources.
func Rank(sources []Source, q *Query, o Options) ([]Hit, error) {
	r := newRanking(sources, q, o)
	if err := r.collect(); err != nil {
		return nil, err
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	if err := r.addSilent(); err != nil {
		return nil, err
	}
	return r.best()
}

func newRanking(sources []Source, q *Query, o Options) *ranking {
	any := o.Except == "" && o.Role == "" && o.Since.IsZero() && o.Until.IsZero()
	return &ranking{sources: sources, q: q, o: o, any: any}
}

type ranking struct {
	sources []Source
	q       *Query
	o       Options
	any     bool      // the options admit every item
	items   []item    // documents with a term of the query, by session and seq; see collect
	n       int       // the number of these documents; silent ones may follow
	values  []value   // values of all items
	scores  []float64 // see scoreOf; 0 before they are computed
	bounds  []float32 // see bound
	df      []int
	live    int
	names   []string // of the sessions, sorted
	weights []float64
	all     float64           // sum of weights
	named   []map[uint32]bool // by source: the authors whom the query names
	near    []float64         // room for scoreOf

	traits    []traits  // by kind, computed when they are needed
	saturated []float64 // results of saturate by length and count; 0 before they are computed
}

// item is a document while it is ranked. There may be an item for every message of a store, so all
// that follows from these fields is computed when it is needed.
type item struct {
	seq     uint64
	session uint32 // index in names
	source  uint32
	doc     uint32
	from    uint32 // index of its first value; the next item's from is the end
	kind    kind
	has     uint8  // number of the query's terms that it has
	must    uint8  // number of those with must
	equal   bool   // it has only the words of the query
	short   uint16 // a shorter hash of what signOf hashes
}

// value says how often one document has one term of the query.
type value struct {
	term  uint8
	count uint8
}

// collect finds the documents that have a term of the query. The last item is only the end of the
// values of the item before it.
func (r *ranking) collect() error {
	r.df = make([]int, len(r.q.terms))
	numbers := map[string]uint32{}
	for _, s := range r.sources {
		for _, name := range s.sessions {
			numbers[name] = 0
		}
	}
	for name := range numbers {
		r.names = append(r.names, name)
	}
	slices.Sort(r.names)
	for i, name := range r.names {
		numbers[name] = uint32(i)
	}
	parts := make([]part, len(r.sources))
	items, values := 0, 0
	for i := range parts {
		p := &parts[i]
		if err := r.find(p, uint32(i)); err != nil {
			return err
		}
		items += p.items
		values += p.values
	}
	r.items = make([]item, 0, items+mostSilent*len(r.sources)+1)
	r.values = make([]value, 0, values)
	ends := make([]int, len(parts))
	for i := range parts {
		if err := r.collectFrom(&parts[i], numbers); err != nil {
			return err
		}
		ends[i] = len(r.items)
	}
	r.n = len(r.items)
	r.items = append(r.items, item{from: uint32(len(r.values))})
	return r.order(ends)
}

// part is what a query needs of a source.
type part struct {
	source     uint32
	first, end uint32 // its documents
	terms      []termPlace
	items      int // the largest number of documents that can have a term of the query
	values     int
}

// termPlace is a result of lookup.
type termPlace struct {
	from, to int64
	docs     int
}

// find looks up the terms of the query in a source.
func (r *ranking) find(p *part, source uint32) error {
	s := &r.sources[source]
	p.source, p.end = source, uint32(s.docs)
	if r.o.Session != "" {
		p.first, p.end = s.Range(r.o.Session)
	}
	if p.first == p.end {
		return nil
	}
	size := int(p.end - p.first)
	for _, t := range r.q.terms {
		var at termPlace
		var err error
		if at.from, at.to, at.docs, err = s.lookup(t.term); err != nil {
			return err
		}
		p.terms = append(p.terms, at)
		p.values += min(at.docs, size)
	}
	p.items = min(p.values, size)
	return nil
}

// collectFrom adds the documents of one source. The documents of each term are sorted, and so are
// the items.
func (r *ranking) collectFrom(p *part, numbers map[string]uint32) error {
	if p.first == p.end {
		return nil
	}
	s := r.sources[p.source]
	r.live += int(p.end - p.first)
	for doc, rewound := range s.Hidden {
		if doc >= p.first && doc < p.end && !(rewound && r.o.Rewound) {
			r.live--
		}
	}
	w := window64{hidden: func(doc uint32) bool {
		rewound, hidden := s.Hidden[doc]
		return hidden && !(rewound && r.o.Rewound)
	}}
	if len(s.Hidden) == 0 {
		w.hidden = nil
	}
	heads, must := make([]head, 0, len(p.terms)), uint64(0)
	for i, at := range p.terms {
		if r.q.terms[i].must {
			must |= 1 << i
		}
		if at.docs == 0 {
			continue
		}
		h := head{term: uint8(i), postings: postings{b: make([]byte, at.to-at.from), left: at.docs, most: s.docs}}
		if err := readFull(s.r, h.b, at.from); err != nil {
			return err
		}
		for first := true; first || h.doc < p.first; first = false {
			if err := h.next(); err != nil {
				return err
			}
		}
		heads = append(heads, h)
	}
	run, session := 0, numbers[s.sessions[s.runs[0].session]]
	for {
		w.first = noDoc
		for i := range heads {
			w.first = min(w.first, heads[i].doc)
		}
		if w.first >= p.end {
			return r.endHeads(heads)
		}
		w.end = min(w.first+windowDocs, p.end)
		for i := range heads {
			h := &heads[i]
			n, err := w.fill(h)
			if err != nil {
				return err
			}
			r.df[h.term] += n
		}
		for k, terms := range w.terms[:w.end-w.first] {
			if terms == 0 {
				continue
			}
			w.terms[k] = 0
			doc := w.first + uint32(k)
			for run+1 < len(s.runs) && s.runs[run+1].doc <= doc {
				run++
				session = numbers[s.sessions[s.runs[run].session]]
			}
			at := &s.runs[run]
			it := item{
				seq: at.seq + uint64(doc-at.doc), session: session, source: p.source, doc: doc, from: uint32(len(r.values)),
				has: uint8(bits.OnesCount64(terms)), must: uint8(bits.OnesCount64(terms & must)),
			}
			sign := uint32(0)
			for ; terms != 0; terms &= terms - 1 {
				term := uint8(bits.TrailingZeros64(terms))
				count := w.counts[term][k]
				sign = (sign ^ (uint32(term)<<8 | uint32(count))) * signPrime
				r.values = append(r.values, value{term: term, count: count})
			}
			it.short = uint16(sign >> 16)
			r.items = append(r.items, it)
		}
	}
}

// endHeads reads the rest of the postings, to find damage.
func (r *ranking) endHeads(heads []head) error {
	for i := range heads {
		for h := &heads[i]; h.doc != noDoc; {
			if err := h.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// windowDocs is the number of documents whose postings are put together at a time.
const windowDocs = 1024

// window64 has the terms of the documents from first up to, but not including, end. A query has at
// most 64 terms.
type window64 struct {
	first, end uint32
	terms      [windowDocs]uint64                // a bit for each term that the document has
	counts     [maxQueryTerms]*[windowDocs]uint8 // by term
	hidden     func(doc uint32) bool             // nil if none is
}

// fill moves a head over the documents of the window, and returns the number of those that have its
// term and are not hidden.
func (w *window64) fill(h *head) (n int, err error) {
	if h.doc >= w.end {
		return 0, nil
	}
	counts := w.counts[h.term]
	if counts == nil {
		counts = new([windowDocs]uint8)
		w.counts[h.term] = counts
	}
	bit := uint64(1) << h.term
	for h.doc < w.end {
		if w.hidden == nil || !w.hidden(h.doc) {
			k := h.doc - w.first
			w.terms[k] |= bit
			counts[k] = h.count
			n++
		}
		// The usual posting of one byte is read here, all others by next.
		if b := h.b; h.left > 0 && len(b) > 0 && b[0] < 0x80 && b[0]&3 != 0 && b[0] >= 4 {
			if doc := h.doc + uint32(b[0]>>2); doc < uint32(h.most) {
				h.doc, h.count, h.b = doc, b[0]&3, b[1:]
				h.left--
				continue
			}
		}
		if err := h.next(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// signPrime makes the short signs of items.
const signPrime = 0x9E3779B1

// head is the place of a merge in the postings of a term of the query.
type head struct {
	postings
	term uint8
}

func comparePlaces(a, b item) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq))
}

func (r *ranking) valuesOf(i int) []value { return r.values[r.items[i].from:r.items[i+1].from] }
