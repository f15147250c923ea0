package search

import (
	"bytes"
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
	Rewound bool      // what was rewound, too
	Most    int       // how many hits at most
}

// Hit is a document that was found. Scores are comparable within one query only.
type Hit struct {
	ID, Version format.ID
	Session     string
	Seq         uint64
	Score       float64
	Rewound     bool
}

// Rank returns the documents that answer q best, best first; at equal scores the newest in its conversation, then the smaller id. What it returns depends on the
// documents that are not hidden in the session asked for, and not on how they are spread over sources.
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
	score   float64
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

// collectFrom adds what one source has. Each term's documents come in order; merged two lists at a time they are in order together.
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
		r.values = append(r.values, value{term: uint8(v >> 8), count: uint8(v)})
	}
	return nil
}

// mergeAll merges sorted lists.
func mergeAll(lists [][]uint64) []uint64 {
	for len(lists) > 1 {
		var next [][]uint64
		for i := 0; i < len(lists); i += 2 {
			if i+1 == len(lists) {
				next = append(next, lists[i])
			} else {
				next = append(next, merge(lists[i], lists[i+1]))
			}
		}
		lists = next
	}
	return lists[0]
}

func merge(a, b []uint64) []uint64 {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// order sorts the items of several sources together, those of one place by id, as they are in one source. The last item is no document: it ends the values of the one before.
func (r *ranking) order() error {
	list := r.items[:len(r.items)-1]
	if len(r.sources) == 1 {
		return nil
	}
	var failed error
	compare := func(a, b item) int {
		if c := comparePlaces(a, b); c != 0 || a.source == b.source && a.doc == b.doc {
			return c
		}
		_, x, err := r.sources[a.source].cold(a.doc)
		failed = cmp.Or(failed, err)
		_, y, err := r.sources[b.source].cold(b.doc)
		failed = cmp.Or(failed, err)
		return bytes.Compare(x[:], y[:])
	}
	if slices.IsSortedFunc(list, compare) {
		return failed
	}
	type whole struct {
		item
		values []value
	}
	all := make([]whole, len(list))
	for i, it := range list {
		all[i] = whole{it, r.values[it.from:r.items[i+1].from]}
	}
	slices.SortStableFunc(all, func(a, b whole) int { return compare(a.item, b.item) })
	values := make([]value, 0, len(r.values))
	for i, w := range all {
		list[i] = w.item
		list[i].from = uint32(len(values))
		values = append(values, w.values...)
	}
	r.values = values
	return failed
}

func comparePlaces(a, b item) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq))
}

func (r *ranking) valuesOf(i int) []value { return r.values[r.items[i].from:r.items[i+1].from] }

// score gives every item its own score and what is near it adds.
func (r *ranking) score() error {
	n := len(r.items) - 1
	if err := r.nameAuthors(); err != nil {
		return err
	}
	r.weigh()
	for i := range n {
		it := &r.items[i]
		length, err := r.factorOf(it)
		if err != nil {
			return err
		}
		for k := range r.valuesOf(i) {
			v := &r.values[int(it.from)+k]
			v.is = float64(r.weights[v.term] * saturate(v.count, length))
		}
	}
	near := make([]float64, len(r.q.terms))
	for i := range n {
		it := &r.items[i]
		clear(near)
		r.around(i, it, near)
		it.score = r.total(r.valuesOf(i), near, it.factor)
	}
	return nil
}

// weigh makes the weights of the query's terms for the documents at hand.
func (r *ranking) weigh() {
	r.weights = make([]float64, len(r.q.terms))
	for i, t := range r.q.terms {
		idf := ln(1 + float64(r.live)/float64(max(r.df[i], 1)))
		r.weights[i] = float64(t.weight * idf)
		if r.isName(t.word) {
			r.weights[i] = float64(r.weights[i] * nameWeight)
		}
		r.all += r.weights[i]
	}
}

// saturate says how much a term counts that occurs so often in a document of so many words: twice is less than double, and more in a short one.
func saturate(count uint8, length float64) float64 {
	tf := float64(count) / 2
	norm := float64(k1 * (1 - lengthPart + float64(lengthPart*length)/usualLength))
	return float64(tf*(k1+1)) / (tf + norm)
}

// factorOf sets what a document's score is multiplied by, and returns its length.
func (r *ranking) factorOf(it *item) (length float64, err error) {
	class, attr, author, err := r.sources[it.source].hotRow(it.doc)
	if err != nil {
		return 0, err
	}
	length = lengthOf(class)
	it.factor = 1 + float64(longGain*min(length, enough))/enough
	if length < short {
		it.factor = float64(it.factor * (1 - float64(shortLoss*(1-length/short))))
	}
	for _, is := range []struct {
		so   bool
		gain float64
	}{
		{r.named[it.source][author], authorGain},
		{attr&r.q.attr != 0, wantGain},
		{attr&attrRole == roleUser, userGain},
		{attr&attrQuestion != 0, -questionLoss},
	} {
		if is.so {
			it.factor = float64(it.factor * (1 + is.gain))
		}
	}
	return length, nil
}

// around adds to near what the documents around a place have: of each term the most that one of them has, less the farther it is.
func (r *ranking) around(i int, it *item, near []float64) {
	look := func(k int) bool {
		o := &r.items[k]
		d := distance(o.seq, it.seq)
		if o.session != it.session || d > window {
			return false
		}
		if o.source == it.source && o.doc == it.doc {
			return true
		}
		decay := float64(nearWeight * (1 - float64(d)/(window+1)))
		for _, v := range r.valuesOf(k) {
			near[v.term] = max(near[v.term], float64(decay*v.is))
		}
		return true
	}
	for k := i - 1; k >= 0 && look(k); k-- {
	}
	for k := i; k < len(r.items)-1 && look(k); k++ {
	}
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// total is a document's score: what it has of the query, and of each term what is near it beyond that; less where it lacks terms of the query itself. It changes near.
func (r *ranking) total(own []value, near []float64, factor float64) float64 {
	sum, has := 0.0, 0.0
	for _, v := range own {
		sum += v.is
		has += r.weights[v.term]
		near[v.term] = max(0, near[v.term]-float64(ownCounts*v.is))
	}
	for _, n := range near {
		sum += n
	}
	return float64(float64(sum*factor) * (1 - coverPart + float64(coverPart*has)/r.all))
}

// addSilent adds the documents beside the best ones that have no term of the query themselves, and score well for what is near them: an answer need not repeat
// what was asked.
func (r *ranking) addSilent() error {
	n := len(r.items) - 1
	best := make([]int, n)
	for i := range best {
		best[i] = i
	}
	better := func(a, b int) int {
		return cmp.Or(cmp.Compare(r.items[b].score, r.items[a].score), cmp.Compare(r.items[b].seq, r.items[a].seq), cmp.Compare(a, b))
	}
	best = top(best, lookBeside, better)
	if len(best) == 0 {
		return nil
	}
	least := float64(silentLeast * r.items[best[0]].score)
	type at struct{ source, doc uint32 }
	seen := map[at]bool{}
	near := make([]float64, len(r.q.terms))
	for _, i := range best {
		it := r.items[i]
		for k := range r.sources {
			s := &r.sources[k]
			first, end := s.seqRange(r.names[it.session], it.seq-min(it.seq, beside), it.seq+beside)
			for doc := first; doc < end; doc++ {
				if rewound, hidden := s.Hidden[doc]; hidden && !(rewound && r.o.Rewound) || seen[at{uint32(k), doc}] {
					continue
				}
				seen[at{uint32(k), doc}] = true
				_, seq := s.place(doc)
				add := item{seq: seq, session: it.session, source: uint32(k), doc: doc}
				where, _ := slices.BinarySearchFunc(r.items[:n], add, comparePlaces)
				if r.has(where, add) {
					continue
				}
				if _, err := r.factorOf(&add); err != nil {
					return err
				}
				clear(near)
				r.around(where, &add, near)
				if add.score = r.total(nil, near, add.factor); add.score >= least {
					r.silent = append(r.silent, add)
				}
			}
		}
	}
	return nil
}

// has reports whether a document is among the items; where is the first of its place.
func (r *ranking) has(where int, it item) bool {
	for ; where < len(r.items)-1 && comparePlaces(r.items[where], it) == 0; where++ {
		if o := &r.items[where]; o.source == it.source && o.doc == it.doc {
			return true
		}
	}
	return false
}

// top returns the first n of list by compare, in order.
func top(list []int, n int, compare func(a, b int) int) []int {
	kept := make([]int, 0, min(2*n, len(list)))
	sorted := false // the first n of kept are the best so far, in order
	for _, v := range list {
		if sorted && compare(v, kept[n-1]) > 0 {
			continue
		}
		if kept = append(kept, v); len(kept) == 2*n {
			slices.SortFunc(kept, compare)
			kept, sorted = kept[:n], true
		}
	}
	slices.SortFunc(kept, compare)
	return kept[:min(n, len(kept))]
}

// best returns the hits.
func (r *ranking) best() ([]Hit, error) {
	all := append(r.items[:len(r.items)-1], r.silent...)
	list := make([]int, 0, len(all))
	var failed error
	for i := range all {
		if r.o.Role == "" && r.o.Except == "" && r.o.Since.IsZero() {
			list = append(list, i)
			continue
		}
		ok, err := r.passes(&all[i])
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, i)
		}
	}
	id := func(i int) format.ID {
		_, id, err := r.sources[all[i].source].cold(all[i].doc)
		failed = cmp.Or(failed, err)
		return id
	}
	list = top(list, r.o.Most, func(a, b int) int {
		if c := cmp.Or(cmp.Compare(all[b].score, all[a].score), cmp.Compare(all[b].seq, all[a].seq)); c != 0 || a == b {
			return c
		}
		x, y := id(a), id(b)
		return bytes.Compare(x[:], y[:])
	})
	hits := make([]Hit, 0, len(list))
	for _, i := range list {
		it := all[i]
		s := r.sources[it.source]
		e, version, err := s.Entry(it.doc)
		if err != nil {
			return nil, err
		}
		if it.score <= 0 {
			continue
		}
		hits = append(hits, Hit{ID: e, Version: version, Session: r.names[it.session], Seq: it.seq, Score: it.score, Rewound: s.Hidden[it.doc]})
	}
	return hits, failed
}

// passes reports whether a document is one that is asked for.
func (r *ranking) passes(it *item) (bool, error) {
	s := r.sources[it.source]
	if r.o.Except != "" && r.names[it.session] == r.o.Except {
		return false, nil
	}
	if r.o.Role != "" {
		_, attr, _, err := s.hotRow(it.doc)
		if role := int(attr & attrRole); err != nil || role >= len(roles) || roles[role] != r.o.Role {
			return false, err
		}
	}
	if !r.o.Since.IsZero() {
		when, _, err := s.cold(it.doc)
		if err != nil || when.Before(r.o.Since) {
			return false, err
		}
	}
	return true, nil
}
