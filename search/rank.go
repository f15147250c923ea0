package search

import (
	"cmp"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
)

// Source is a segment with what has become of its documents since it was written.
type Source struct {
	*Segment
	Hidden map[uint32]bool // documents that are not in any history any more; true for those that were rewound
}

// Options say what is looked for beside the words.
type Options struct {
	Session string    // only what was said in this session; "" for all
	Except  string    // not what was said in this session; "" for no such
	Role    string    // only what was said in this role; "" for all
	Since   time.Time // only what was said then or later; the zero Time for all
	Until   time.Time // only what was said before; the zero Time for all
	Rewound bool      // what was rewound, too
	Most    int       // how many hits at most
	// Whole is how many more hits are returned at most of documents that have every term of the
	// query, those that have most of them first: one of them may have the query word for word.
	Whole int
	// Only is for RankSessions: of the messages of a session these count; nil for all.
	Only map[format.ID]bool
}

// inTime reports whether a time is one that is asked for.
func (o *Options) inTime(t time.Time) bool {
	return !t.Before(o.Since) && (o.Until.IsZero() || t.Before(o.Until))
}

// Hit is a document that was found. Scores are comparable within one query only.
type Hit struct {
	ID, Version format.ID
	Session     string
	Seq         uint64
	Score       float64
	Whole       bool // it has every term of the query
	Equal       bool // it has the words of the query and no others; known where Options.Whole is not 0
	Spare       bool // it is one of Options.Whole
	Rewound     bool
	Copies      []Hit // documents with the same words, which are no hits of their own; without scores
}

// Rank returns the documents that answer q best, best first; at equal scores the newest in its
// conversation, then the smaller id. What it returns depends on the documents that are not hidden
// in the session asked for, and not on how they are spread over sources.
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
	values  []value // of the items
	df      []int
	live    int
	names   []string // of the sessions, sorted
	weights []float64
	all     float64           // the sum of weights
	named   []map[uint32]bool // by source: authors whom the query names
	silent  []item            // documents without a term of the query, next to good ones
}

// item is a document while it is ranked.
type item struct {
	seq     uint64
	session uint32 // in names
	source  uint32
	doc     uint32
	from    uint32 // its first value; the next item's is the end
	factor  float64
	gives   float64 // what is near it gets so much of it
	hears   float64
	score   float64
	own     float64 // of score, before the factor: what it has itself
	has     int     // how many terms of the query
	must    int     // how many of those that it must have
	sign    uint64  // equal where terms, counts and length are
	length  uint8   // its class
	equal   bool    // it has the words of the query and no others
}

// value is how much one term of the query counts in one document.
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

// collectFrom adds what one source has. Each term's documents come in order; merged two lists at a
// time they are in order together.
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
	var lists [][]uint64 // document, term, count
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
