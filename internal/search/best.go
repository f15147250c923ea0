package search

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// top returns the first n elements of list in the order of compare.
func top(list []int, n int, compare func(a, b int) int) []int {
	kept := make([]int, 0, min(2*n, len(list)))
	sorted := false // the first n of kept are sorted, and the best so far
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

// best returns the hits: the best documents that the options admit, and after them, if
// Options.Whole asks for it, more documents that may contain the query word for word.
func (r *ranking) best() ([]Hit, error) {
	r.items = append(r.items[:len(r.items)-1], r.silent...)
	list := make([]int, 0, len(r.items))
	var whole []int
	for i := range r.items {
		it := &r.items[i]
		ok, err := r.passes(it)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		list = append(list, i)
		if it.has < len(r.q.terms) || r.o.Whole == 0 {
			continue
		}
		whole = append(whole, i)
		if it.length == r.q.length {
			print, err := r.print(i)
			if err != nil {
				return nil, err
			}
			it.equal = print == r.q.print
		}
	}
	g := &gatherer{r: r, list: list, seen: map[uint64]bool{}}
	hits, err := g.gather(nil, list, r.o.Limit, func(it *item) float64 { return it.score })
	if err == nil && len(whole) > 0 {
		best := len(hits)
		hits, err = g.gather(hits, whole, best+r.o.Whole, likeQuery)
		for i := best; i < len(hits); i++ {
			hits[i].Spare = true
		}
	}
	return hits, err
}

// likeQuery orders documents that have every term of the query: first those that equal the query,
// then those with the highest own score.
func likeQuery(it *item) float64 {
	if it.equal {
		return 2
	}
	return 1 / (1 + 1/it.own)
}

// inOrder returns the first n elements of list, by descending value. At equal values, the higher
// seq comes first, then the smaller id.
func (r *ranking) inOrder(list []int, n int, value func(it *item) float64) ([]int, error) {
	var failed error
	id := func(i int) format.ID {
		_, id, err := r.sources[r.items[i].source].cold(r.items[i].doc)
		failed = cmp.Or(failed, err)
		return id
	}
	list = top(list, n, func(a, b int) int {
		x, y := &r.items[a], &r.items[b]
		if c := cmp.Or(cmp.Compare(value(y), value(x)), cmp.Compare(y.seq, x.seq)); c != 0 || a == b {
			return c
		}
		p, q := id(a), id(b)
		return bytes.Compare(p[:], q[:])
	})
	return list, failed
}

// passes reports whether a ranked document matches the query and the options.
func (r *ranking) passes(it *item) (bool, error) {
	if it.score <= 0 || it.must < r.q.must {
		return false, nil
	}
	return r.o.admits(&r.sources[it.source], it.doc, r.names[it.session])
}
