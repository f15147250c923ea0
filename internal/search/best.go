package search

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// found is a document that may be among the best.
type found struct {
	item
	value float64 // by which it is chosen
	score float64 // see scoreOf; 0 for one that is not for hits
	at    int     // its place among all items
	print uint64  // of its words; see printOf

	around *excerpt // nil if it is not kept
}

// shortlist keeps the best of the documents that it is offered: those with the highest values.
type shortlist struct {
	most int
	// compare orders documents with equal values.
	compare  func(a, b *found) int
	distinct bool // of documents with the same print, except 0, only the best one is kept

	list []*found
	// least is the lowest value of a document that may still be among the best.
	least float64
}

// offer adds a document whose value is at least least.
func (s *shortlist) offer(f *found) {
	s.list = append(s.list, f)
	if len(s.list)/2 >= max(s.most, 16) {
		s.cut()
	}
}

// cut sorts the list, and keeps the best documents.
func (s *shortlist) cut() {
	slices.SortFunc(s.list, func(a, b *found) int {
		if a.value != b.value {
			return cmp.Compare(b.value, a.value)
		}
		return s.compare(a, b)
	})
	kept := s.list[:0]
	seen := map[uint64]bool{}
	for _, f := range s.list {
		if len(kept) == s.most {
			break
		}
		if s.distinct && f.print != 0 {
			if seen[f.print] {
				continue
			}
			seen[f.print] = true
		}
		kept = append(kept, f)
	}
	clear(s.list[len(kept):])
	if s.list = kept; len(kept) == s.most && s.most > 0 {
		s.least = kept[len(kept)-1].value
	}
}

// choice keeps the documents of a stream that a result needs.
type choice struct {
	r      *ranking
	beside shortlist // the best ones, next to which silent ones are searched
	hits   shortlist // the best ones that the options admit
	whole  shortlist // those of them with every term of the query that are most like it
	at     int
	failed error // of a comparison
}

func (r *ranking) newChoice() *choice {
	c := &choice{r: r}
	c.beside = shortlist{most: lookBeside, compare: func(a, b *found) int {
		return cmp.Or(cmp.Compare(b.seq, a.seq), cmp.Compare(a.at, b.at))
	}}
	c.hits = shortlist{most: r.o.Limit, compare: c.byPlace, distinct: true}
	c.whole = shortlist{most: r.o.Whole, compare: c.byPlace, distinct: true}
	if r.o.Whole > 0 { // some of them are among the hits
		c.whole.most += min(r.o.Limit, math.MaxInt32-r.o.Whole)
	}
	return c
}

// byPlace orders documents with equal values: the higher seq comes first, then the smaller id.
func (c *choice) byPlace(a, b *found) int {
	if n := cmp.Compare(b.seq, a.seq); n != 0 || a.source == b.source && a.doc == b.doc {
		return n
	}
	id := func(f *found) format.ID {
		_, id, err := c.r.sources[f.source].cold(f.doc)
		c.failed = cmp.Or(c.failed, err)
		return id
	}
	x, y := id(a), id(b)
	return bytes.Compare(x[:], y[:])
}

// take looks at the items of a stretch.
func (c *choice) take(first, end int) error {
	r := c.r
	r.bound(first, end)
	ownLeast := likeLeast(c.whole.least)
	for i := first; i < end; i++ {
		it, bound := &r.items[i], float64(r.bounds[i])
		is := chances{beside: bound >= c.beside.least, hit: bound >= c.hits.least}
		if r.o.Whole > 0 && int(it.has) == len(r.q.terms) {
			is.whole = r.owns[i] >= ownLeast || it.kind.length() == r.q.length
		}
		if is != (chances{}) {
			if err := c.takeOne(i, c.at+i-first, is); err != nil {
				return err
			}
		}
	}
	c.keepAround(first)
	c.at += end - first
	return nil
}

// chances says in which lists of a choice an item may be.
type chances struct{ beside, hit, whole bool }

func (c *choice) takeOne(i, at int, is chances) error {
	r := c.r
	it := &r.items[i]
	if is.hit || is.whole {
		ok, err := r.passes(it)
		if err != nil {
			return err
		}
		is.hit, is.whole = is.hit && ok, is.whole && ok
	}
	print := uint64(0)
	if is.whole || is.hit && r.mayReach(i, c.hits.least) {
		var err error
		if print, err = r.sources[it.source].print(it.doc); err != nil {
			return err
		}
	} else if is.hit = false; !is.beside {
		return nil
	}
	it.equal = is.whole && it.kind.length() == r.q.length && print == r.q.print
	if is.whole {
		if value := r.likeQuery(i); value >= c.whole.least {
			c.whole.offer(&found{item: *it, value: value, score: r.scoreOf(i), at: at,
				print: print})
		}
	}
	is.beside = is.beside && r.mayReach(i, c.beside.least)
	if !is.beside && !is.hit {
		return nil
	}
	score := r.scoreOf(i)
	if is.beside && score >= c.beside.least {
		c.beside.offer(&found{item: *it, value: score, at: at})
	}
	if is.hit && score >= c.hits.least {
		c.hits.offer(&found{item: *it, value: score, score: score, at: at, print: print})
	}
	return nil
}

// keepAround keeps what is near the best items of a stretch that begins at first.
func (c *choice) keepAround(first int) {
	isNew := func(f *found) bool { return f.around == nil }
	if !slices.ContainsFunc(c.beside.list, isNew) {
		return
	}
	c.beside.cut()
	for _, f := range c.beside.list {
		if isNew(f) {
			f.around = c.r.excerptAt(first + f.at - c.at)
		}
	}
}

// likeQuery orders documents that have every term of the query: first those that equal the query,
// then those with the highest own score.
func (r *ranking) likeQuery(i int) float64 {
	if r.items[i].equal {
		return 2
	}
	return 1 / (1 + 1/r.owns[i])
}

// likeLeast returns an own score that no document is below for which likeQuery returns value.
func likeLeast(value float64) float64 {
	if value >= 1 {
		return math.Inf(1)
	}
	return value / (1 - value) / boundSlack
}

// best returns the hits: the best documents that the options admit, and after them, if
// Options.Whole asks for it, more documents that may contain the query word for word.
func (r *ranking) best() ([]Hit, error) {
	c := r.newChoice()
	if err := r.eachStretch(c.take); err != nil {
		return nil, err
	}
	c.beside.cut()
	silent, err := r.silent(c.beside.list)
	if err != nil {
		return nil, err
	}
	for _, f := range silent {
		if f.value >= c.hits.least {
			c.hits.offer(f)
		}
	}
	c.hits.cut()
	c.whole.cut()
	if c.failed != nil {
		return nil, c.failed
	}
	list := c.hits.list
	hits, known := len(list), map[uint64]bool{}
	for _, f := range list {
		known[f.print] = f.print != 0
	}
	for _, f := range c.whole.list {
		if len(list) == hits+r.o.Whole {
			break
		}
		if !known[f.print] {
			list = append(list, f)
		}
	}
	return r.withCopies(list, hits, silent)
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
