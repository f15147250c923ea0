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
	Kept    bool      // only what somebody wanted remembered; Rank ignores it
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
	// Documents with the same words, which are no hits of their own; without scores
	Copies []Hit
}

// Rank returns the documents that answer q best, the best first. At equal scores the higher seq
// comes first, then the smaller id. The result depends only on the documents that are visible in
// the requested session, not on their distribution over sources.
func Rank(sources []Source, q *Query, o Options) ([]Hit, error) {
	r := newRanking(sources, q, o)
	if err := r.prepare(); err != nil {
		return nil, err
	}
	return r.best()
}

func newRanking(sources []Source, q *Query, o Options) *ranking {
	any := o.Except == "" && o.Role == "" && o.Since.IsZero() && o.Until.IsZero()
	return &ranking{sources: sources, q: q, o: o, any: any, stretch: stretchItems}
}

type ranking struct {
	sources []Source
	q       *Query
	o       Options
	any     bool       // the options admit every item
	names   []string   // of the sessions, sorted
	numbers [][]uint32 // by source and session of the source: index in names
	parts   []part
	df      []int
	live    int
	weights []float64
	all     float64           // sum of weights
	named   []map[uint32]bool // by source: the authors whom the query names

	// The stretch in memory; see eachStretch.
	stretch int // the number of items that a stretch adds
	// Documents with a term of the query, by session and seq; silent ones may follow
	items   []item
	n       int       // the number of items without silent ones
	values  []value   // values of all items
	scores  []float64 // see scoreOf; 0 before they are computed
	bounds  []float32 // see bound
	owns    []float64 // see bound
	largest []float64 // by block and term: the largest values of its items
	blocks  []float64 // by block and term: the largest values near its items
	near    []float64 // room for scoreOf
	rooms   [][]byte  // see room

	kinds     [256]kind // by attr, without the length
	traits    []traits  // by kind, computed when they are needed
	saturated []float64 // results of saturate by length and count; 0 before they are computed
}

// item is a document while it is ranked.
type item struct {
	seq     uint64
	session uint32 // index in names
	source  uint32
	doc     uint32
	from    uint32 // index of its first value; the next item's from is the end
	kind    kind
	has     uint8 // number of the query's terms that it has
	must    uint8 // number of those with must
	equal   bool  // it has only the words of the query
}

// value says how often one document has one term of the query.
type value struct {
	term  uint8
	count uint8
}

// part is what a query needs of a source.
type part struct {
	source     uint32
	first, end uint32   // its documents
	gone       []uint32 // those of them that are not visible, sorted
	terms      []termPlace
	values     int // the largest number of values of its documents
}

// termPlace is a result of lookup.
type termPlace struct {
	from, to int64
	docs     int
}

// collect finds the postings of the query, and the frequencies of its terms.
func (r *ranking) collect() error {
	r.df = make([]int, len(r.q.terms))
	for _, s := range r.sources {
		r.names = append(r.names, s.sessions...)
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	r.parts = make([]part, len(r.sources))
	r.numbers = make([][]uint32, len(r.sources))
	for i, s := range r.sources {
		r.numbers[i] = make([]uint32, len(s.sessions))
		for k, name := range s.sessions {
			at, _ := slices.BinarySearch(r.names, name)
			r.numbers[i][k] = uint32(at)
		}
		if err := r.find(&r.parts[i], uint32(i)); err != nil {
			return err
		}
	}
	return nil
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
	for doc, rewound := range s.Hidden {
		if doc >= p.first && doc < p.end && !(rewound && r.o.Rewound) {
			p.gone = append(p.gone, doc)
		}
	}
	slices.Sort(p.gone)
	r.live += int(p.end-p.first) - len(p.gone)
	for i, t := range r.q.terms {
		var at termPlace
		var err error
		if at.from, at.to, at.docs, err = s.lookup(t.term); err != nil {
			return err
		}
		p.terms = append(p.terms, at)
		p.values += at.docs
		n := at.docs
		if len(p.gone) > 0 || int(p.end-p.first) < s.docs {
			n = 0
			if err := r.eachIn(p, at, func(uint32) { n++ }); err != nil {
				return err
			}
		}
		r.df[i] += n
	}
	return nil
}

// eachIn calls yield for the visible documents of a part that have a term.
func (r *ranking) eachIn(p *part, at termPlace, yield func(doc uint32)) error {
	if at.docs == 0 {
		return nil
	}
	s := &r.sources[p.source]
	list := postings{r: s.r, at: at.from, to: at.to, left: at.docs, most: s.docs,
		room: r.room(postingsRead)}
	defer r.spare(list.room)
	gone := p.gone
	for {
		if err := list.next(); err != nil || list.doc >= p.end {
			return err
		}
		for len(gone) > 0 && gone[0] < list.doc {
			gone = gone[1:]
		}
		if list.doc >= p.first && (len(gone) == 0 || gone[0] != list.doc) {
			yield(list.doc)
		}
	}
}

func comparePlaces(a, b item) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq))
}

func (r *ranking) valuesOf(i int) []value { return r.values[r.items[i].from:r.items[i+1].from] }
