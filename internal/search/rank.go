package search

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
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
	Session string // only messages of this session; "" for all
	Except  string // no messages of this session; "" for none
	Role    string // only messages with this role; "" for all
	// Workers are sessions whose prompts are nobody's own words: with the role user, none of them.
	Workers map[string]bool
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

// found is a document that may be among the best.
type found struct {
	item
	score float64 // see scoreOf
	own   float64 // the part of its own terms in the score; of one with every term
	print uint64  // of its words; see printOf
}

// byScore orders documents: the higher score comes first, then the higher seq.
func byScore(a, b *found) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.seq, a.seq))
}

// byLikeness orders documents that have every term of the query: first those that equal the query,
// then those with the most of the terms, then the higher seq.
func byLikeness(a, b *found) int {
	return cmp.Or(compareBool(b.equal, a.equal), cmp.Compare(b.own, a.own),
		cmp.Compare(b.seq, a.seq))
}

// best returns the hits: the best documents that the options admit, and after them, if
// Options.Whole asks for it, more documents that may contain the query word for word.
func (r *ranking) best() ([]Hit, error) {
	all := make([]found, len(r.items))
	ranked := make([]*found, len(all))
	for i := range all {
		all[i] = found{item: r.items[i], score: r.scoreOf(i)}
		ranked[i] = &all[i]
	}
	known := map[uint64]bool{}
	list, err := r.distinct(ranked, byScore, r.o.Limit, known)
	if err != nil {
		return nil, err
	}
	hits := len(list)
	if r.o.Whole > 0 {
		whole, err := r.whole(all)
		if err != nil {
			return nil, err
		}
		more, err := r.distinct(whole, byLikeness, r.o.Whole, known)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return r.withCopies(list, hits)
}

// distinct returns the first documents in an order that the options admit, at most as many as most
// says. Of the same place in the order the smaller id comes first. Of those with the same print,
// except 0, only the first one counts, and none whose print is known.
func (r *ranking) distinct(
	ranked []*found, order func(a, b *found) int, most int, known map[uint64]bool,
) (list []*found, err error) {
	// Few of many are taken.
	left := lists.Heap[*found]{List: ranked,
		Before: func(a, b *found) bool { return order(a, b) < 0 }}
	left.Init()
	for len(left.List) > 0 {
		equal := []*found{left.Take()} // the documents of the first place in the order
		for len(left.List) > 0 && order(equal[0], left.List[0]) == 0 {
			equal = append(equal, left.Take())
		}
		slices.SortFunc(equal, func(a, b *found) int { return r.compareIDs(&a.item, &b.item) })
		for _, f := range equal {
			if len(list) == most {
				return list, r.failed
			}
			if ok, err := r.passes(&f.item); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			if err := r.setPrint(f); err != nil {
				return nil, err
			}
			if !known[f.print] {
				known[f.print] = f.print != 0
				list = append(list, f)
			}
		}
	}
	return list, r.failed
}

// setPrint sets the print of a document, and whether it has only the words of the query.
func (r *ranking) setPrint(f *found) (err error) {
	f.print, err = r.sources[f.source].print(f.doc)
	f.equal = r.o.Whole > 0 && int(f.has) == r.q.own() &&
		f.kind.length() == r.q.length && f.print == r.q.print
	return err
}

// whole returns the documents that have every term of the query.
func (r *ranking) whole(all []found) (list []*found, err error) {
	for i := range all {
		f := &all[i]
		if int(f.has) < r.q.own() {
			continue
		}
		if f.kind.length() == r.q.length {
			if err := r.setPrint(f); err != nil {
				return nil, err
			}
		}
		for _, v := range r.valuesOf(&f.item)[:f.has] {
			f.own += r.isOf(v, f.kind.length())
		}
		list = append(list, f)
	}
	return list, nil
}

// passes reports whether a ranked document matches the query and the options.
func (r *ranking) passes(it *item) (bool, error) {
	if int(it.must) < r.q.must {
		return false, nil
	}
	if r.any { // an item of another session than the wanted one was not collected
		return true, nil
	}
	return r.o.admits(&r.sources[it.source], it.doc, r.names[it.session])
}

// minNamed is the share of an author's name that a query must contain to name the author: half of
// "Grad C" is enough, a third of a model's name is not.
const minNamed = 0.5

// nameAuthors finds the authors whom the query names. Candidates are the authors of documents that
// have a term of the query; those whose names the query contains to the largest share count.
func (r *ranking) nameAuthors() error {
	shares := make([]map[uint32]float64, len(r.sources))
	for i, s := range r.sources {
		r.named[i], shares[i] = map[uint32]bool{}, map[uint32]float64{}
		for k, author := range s.authors {
			if share := r.q.shareOf(author); share >= minNamed {
				shares[i][uint32(k)] = share
			}
		}
	}
	if !slices.ContainsFunc(shares, func(m map[uint32]float64) bool { return len(m) > 0 }) {
		return nil
	}
	most, names := 0.0, map[string]bool{}
	for i := range r.items {
		it := &r.items[i]
		author, err := r.authorOf(it)
		if err != nil {
			return err
		}
		share := shares[it.source][author]
		if share > most {
			most = share
			clear(names)
		}
		if share == most && share > 0 {
			names[r.sources[it.source].authors[author]] = true
		}
	}
	for i, s := range r.sources {
		for author := range shares[i] {
			r.named[i][author] = names[s.authors[author]]
		}
	}
	for i := range r.items {
		it := &r.items[i]
		author, err := r.authorOf(it)
		if err != nil {
			return err
		}
		if r.named[it.source][author] {
			it.kind |= kindNamed << 8
		}
	}
	return nil
}

// authorOf returns the number of an item's author in its source.
func (r *ranking) authorOf(it *item) (uint32, error) {
	row, err := r.sources[it.source].hotRow(it.doc)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(row[2:]), nil
}

// isName reports whether a word of the query is part of the name of an author whom the query names.
func (r *ranking) isName(word string) bool {
	for i, s := range r.sources {
		for author, named := range r.named[i] {
			if named &&
				slices.ContainsFunc(nameParts(s.authors[author]),
					func(p string) bool { return strings.EqualFold(p, word) }) {
				return true
			}
		}
	}
	return false
}

// shareOf returns the share of an author's name that the query contains, from 0 to 1.
func (q *Query) shareOf(author string) float64 {
	parts := nameParts(author)
	if len(parts) == 0 {
		return 0
	}
	n := 0
	for _, p := range parts {
		if q.hasName(p) {
			n++
		}
	}
	return float64(n) / float64(len(parts))
}

// hasName reports whether the query contains a part of a name. A part of a single letter must be a
// capital letter inside the sentence, and not I.
func (q *Query) hasName(part string) bool {
	if utf8.RuneCountInString(part) > 1 {
		return slices.ContainsFunc(q.words,
			func(w string) bool { return strings.EqualFold(w, part) })
	}
	i := slices.Index(q.words, part)
	return i > 0 && part != "I" && part != strings.ToLower(part)
}

func nameParts(author string) []string { return strings.FieldsFunc(author, notInName) }
