package search

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

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

// best returns the hits: the best documents that are asked for, and after them, where Options ask
// for it, more that may have the query word for word.
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
	hits, err := g.gather(nil, list, r.o.Most, func(it *item) float64 { return it.score })
	if err == nil && len(whole) > 0 {
		best := len(hits)
		hits, err = g.gather(hits, whole, best+r.o.Whole, likeQuery)
		for i := best; i < len(hits); i++ {
			hits[i].Spare = true
		}
	}
	return hits, err
}

// likeQuery orders documents with every term of the query: the query itself, then those of which it
// is most.
func likeQuery(it *item) float64 {
	if it.equal {
		return 2
	}
	return 1 / (1 + 1/it.own)
}

// inOrder returns the first n of list by a value, the largest first; at equal values the newest in
// its conversation, then the smaller id.
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

// passes reports whether a document that was ranked is one that is asked for.
func (r *ranking) passes(it *item) (bool, error) {
	if it.score <= 0 || it.must < r.q.must {
		return false, nil
	}
	return r.o.admits(&r.sources[it.source], it.doc, r.names[it.session])
}
