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
	r := &ranking{sources: sources, q: q, o: o}
	if err := r.collect(); err != nil {
		return nil, err
	}
	if err := r.score(); err != nil {
		return nil, err
	}
	if err := r.addSilent(); err != nil {
		return nil, err
	}
	return r.best()
}

type ranking struct {
	sources []Source
	q       *Query
	o       Options
	items   []item  // documents with a term of the query, by session and seq
	values  []value // values of all items
	df      []int
	live    int
	names   []string // of the sessions, sorted
	weights []float64
	all     float64           // sum of weights
	named   []map[uint32]bool // by source: the authors whom the query names
	silent  []item            // documents without a term of the query, next to good ones
}

// item is a document while it is ranked.
type item struct {
	seq     uint64
	session uint32 // index in names
	source  uint32
	doc     uint32
	from    uint32 // index of its first value; the next item's from is the end
	factor  float64
	gives   float64 // see class
	hears   float64
	score   float64
	own     float64 // the part of score from its own terms, before factor
	has     int     // number of the query's terms that it has
	must    int     // number of those with must
	sign    uint64  // hash of terms, counts and length; copies have the same
	length  uint8   // as lengthClass returns it
	equal   bool    // it has only the words of the query
}

// value is the contribution of one term of the query to one document.
type value struct {
	term  uint8
	count uint8
	is    float64
}

// collect finds the documents that have a term of the query.
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
	for i := range r.sources {
		if err := r.collectFrom(uint32(i), numbers); err != nil {
			return err
		}
	}
	r.items = append(r.items, item{from: uint32(len(r.values))})
	return r.order()
}

// collectFrom adds the documents of one source. The documents of each term are sorted, and so are
// the merged lists.
func (r *ranking) collectFrom(source uint32, numbers map[string]uint32) error {
	s := r.sources[source]
	first, end := uint32(0), uint32(s.docs)
	if r.o.Session != "" {
		first, end = s.Range(r.o.Session)
	}
	if first == end {
		return nil
	}
	r.live += int(end - first)
	for doc, rewound := range s.Hidden {
		if doc >= first && doc < end && !(rewound && r.o.Rewound) {
			r.live--
		}
	}
	var lists [][]uint64 // document, term and count in one number
	for i, t := range r.q.terms {
		var list []uint64
		err := s.each(t.term, func(doc uint32, count uint8) {
			if doc < first || doc >= end {
				return
			}
			if rewound, hidden := s.Hidden[doc]; hidden && !(rewound && r.o.Rewound) {
				return
			}
			list = append(list, uint64(doc)<<16|uint64(i)<<8|uint64(count))
		})
		if err != nil {
			return err
		}
		r.df[i] += len(list)
		lists = append(lists, list)
	}
	at := 0
	last := -1
	for _, v := range mergeAll(lists) {
		doc := uint32(v >> 16)
		if int(doc) != last {
			for at+1 < len(s.runs) && s.runs[at+1].doc <= doc {
				at++
			}
			run := s.runs[at]
			r.items = append(r.items, item{
				seq: run.seq + uint64(doc-run.doc), session: numbers[s.sessions[run.session]], source: source, doc: doc, from: uint32(len(r.values)),
			})
			last = int(doc)
		}
		it := &r.items[len(r.items)-1]
		it.has++
		if it.sign = (it.sign ^ v&0xffff) * 1099511628211; r.q.terms[uint8(v>>8)].must {
			it.must++
		}
		r.values = append(r.values, value{term: uint8(v >> 8), count: uint8(v)})
	}
	return nil
}

func comparePlaces(a, b item) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq))
}

func (r *ranking) valuesOf(i int) []value { return r.values[r.items[i].from:r.items[i+1].from] }
