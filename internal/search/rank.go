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
	Whole       bool    // it has every term of the query
	Equal       bool    // it has only the words of the query; known if Options.Whole is not 0
	Spare       bool    // it is one of the further hits of Options.Whole
	Own         float64 // of a spare one: the part of its terms in the score
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
	return &ranking{sources: sources, q: q, o: o, any: any}
}

type ranking struct {
	sources []Source
	q       *Query
	o       Options
	any     bool       // the options admit every item
	names   []string   // of the sessions, sorted
	numbers [][]uint32 // by source and session of the source: index in names
	df      []int
	live    int
	weights []float64
	all     float64           // sum of weights
	named   []map[uint32]bool // by source: the authors whom the query names

	items  []item  // documents with a term of the query, by session, seq and id
	values []value // of all items
	near   []float64
	failed error // of a comparison

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
	from    uint32 // index of its first value
	kind    kind
	values  uint8 // number of its values
	has     uint8 // number of the query's own terms that it has; their values are the first ones
	must    uint8 // number of those with must
	equal   bool  // it has only the words of the query
}

// value says how often one document has one term of the query.
type value struct {
	term  uint8
	count uint8
}

// sees reports whether a document is in a history, or the options ask for rewound ones, too.
func (o *Options) sees(s *Source, doc uint32) bool {
	rewound, hidden := s.Hidden[doc]
	return !hidden || rewound && o.Rewound
}

// collect makes the items of all sources, and counts the frequencies of the query's terms.
func (r *ranking) collect() error {
	r.df = make([]int, len(r.q.terms))
	for _, s := range r.sources {
		r.names = append(r.names, s.sessions...)
	}
	slices.Sort(r.names)
	r.names = slices.Compact(r.names)
	r.numbers = make([][]uint32, len(r.sources))
	for i, s := range r.sources {
		r.numbers[i] = make([]uint32, len(s.sessions))
		for k, name := range s.sessions {
			at, _ := slices.BinarySearch(r.names, name)
			r.numbers[i][k] = uint32(at)
		}
		if err := r.collectFrom(uint32(i)); err != nil {
			return err
		}
	}
	if len(r.sources) > 1 {
		slices.SortFunc(r.items, func(a, b item) int {
			return cmp.Or(comparePlaces(a, b), r.compareIDs(&a, &b), cmp.Compare(a.doc, b.doc))
		})
	}
	return r.failed
}

// collectFrom adds the items of a source.
func (r *ranking) collectFrom(source uint32) error {
	s := &r.sources[source]
	first, end := uint32(0), uint32(s.docs)
	if r.o.Session != "" {
		first, end = s.Range(r.o.Session)
	}
	r.live += int(end - first)
	for doc := range s.Hidden {
		if doc >= first && doc < end && !r.o.sees(s, doc) {
			r.live--
		}
	}
	lists, err := r.postingsFrom(s, first)
	run := 0
	for err == nil {
		doc := noDoc
		for _, p := range lists {
			doc = min(doc, p.doc)
		}
		if doc >= end {
			break
		}
		it := item{source: source, doc: doc, from: uint32(len(r.values))}
		for t, p := range lists {
			if p.doc == doc && err == nil {
				r.values = append(r.values, value{term: uint8(t), count: p.count})
				err = p.next()
			}
		}
		if err != nil || !r.o.sees(s, doc) {
			r.values = r.values[:it.from]
			continue
		}
		for doc >= s.runStart(run+1) {
			run++
		}
		it.session, it.seq = r.numbers[source][s.runs[run].session],
			s.runs[run].seq+uint64(doc-s.runs[run].doc)
		err = r.addItem(it)
	}
	return err
}

// addItem adds an item whose values are the last ones.
func (r *ranking) addItem(it item) error {
	row, err := r.sources[it.source].hotRow(it.doc)
	if err != nil {
		return err
	}
	it.kind = r.kindOf(it.source, row)
	values := r.values[it.from:]
	it.values, it.must = uint8(len(values)), r.mustOf(values)
	for _, v := range values {
		r.df[v.term]++
		if int(v.term) < r.q.own() {
			it.has++
		}
	}
	r.items = append(r.items, it)
	return nil
}

// postingsFrom returns the postings of the query's terms, by term, each at its first document from
// first on.
func (r *ranking) postingsFrom(s *Source, first uint32) ([]*postings, error) {
	var lists []*postings
	for _, t := range r.q.terms {
		p, err := s.postingsOf(t.term)
		for begun := false; err == nil && (!begun || p.doc < first); begun = true {
			err = p.next()
		}
		if err != nil {
			return nil, err
		}
		lists = append(lists, p)
	}
	return lists, nil
}

func comparePlaces(a, b item) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq))
}

// compareIDs compares the ids of two items. It notes an error in failed.
func (r *ranking) compareIDs(a, b *item) int {
	if a.source == b.source && a.doc == b.doc {
		return 0
	}
	_, x, err := r.sources[a.source].cold(a.doc)
	_, y, fault := r.sources[b.source].cold(b.doc)
	r.failed = cmp.Or(r.failed, err, fault)
	return x.Compare(y)
}

func (r *ranking) valuesOf(it *item) []value { return r.values[it.from:][:it.values] }
