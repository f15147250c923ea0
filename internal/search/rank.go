package search

import (
	"cmp"
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
	// Shared reports whether a session is of another store: of documents with the same words, one of
	// this store comes first. nil for a store that has no such sessions.
	Shared func(session string) bool
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
	heads := make([]head, 0, len(p.terms))
	advance := func(h *head) error {
		for {
			if err := h.next(); err != nil || h.doc == noDoc {
				return err
			}
			if h.doc < p.first || h.doc >= p.end {
				continue
			}
			if len(s.Hidden) > 0 {
				if rewound, hidden := s.Hidden[h.doc]; hidden && !(rewound && r.o.Rewound) {
					continue
				}
			}
			r.df[h.term]++
			return nil
		}
	}
	for i, at := range p.terms {
		if at.docs == 0 {
			continue
		}
		h := head{term: uint8(i), must: r.q.terms[i].must, postings: postings{b: make([]byte, at.to-at.from), left: at.docs, most: s.docs}}
		if err := readFull(s.r, h.b, at.from); err != nil {
			return err
		}
		if err := advance(&h); err != nil {
			return err
		}
		heads = append(heads, h)
	}
	run, session := 0, numbers[s.sessions[s.runs[0].session]]
	for {
		doc := noDoc
		for i := range heads {
			doc = min(doc, heads[i].doc)
		}
		if doc == noDoc {
			return nil
		}
		for run+1 < len(s.runs) && s.runs[run+1].doc <= doc {
			run++
			session = numbers[s.sessions[s.runs[run].session]]
		}
		at := &s.runs[run]
		it := item{
			seq: at.seq + uint64(doc-at.doc), session: session, source: p.source, doc: doc, from: uint32(len(r.values)),
		}
		sign := uint32(0)
		for i := range heads {
			h := &heads[i]
			if h.doc != doc {
				continue
			}
			it.has++
			if h.must {
				it.must++
			}
			sign = (sign ^ (uint32(h.term)<<8 | uint32(h.count))) * signPrime
			r.values = append(r.values, value{term: h.term, count: h.count})
			if err := advance(h); err != nil {
				return err
			}
		}
		it.short = uint16(sign >> 16)
		r.items = append(r.items, it)
	}
}

// signPrime makes the short signs of items.
const signPrime = 0x9E3779B1

// head is the place of a merge in the postings of a term of the query.
type head struct {
	postings
	term uint8
	must bool
}

func comparePlaces(a, b item) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq))
}

func (r *ranking) valuesOf(i int) []value { return r.values[r.items[i].from:r.items[i+1].from] }
