package search

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// top returns the n elements of list with the highest values, the highest first. Elements with
// equal values are in the order of compare.
func top[V cmp.Ordered](list []int32, n int, value func(i int) V, compare func(a, b int32) int) []int32 {
	type valued struct {
		is V
		i  int32
	}
	better := func(a, b valued) int {
		if a.is != b.is {
			return cmp.Compare(b.is, a.is)
		}
		return compare(a.i, b.i)
	}
	kept := make([]valued, 0, min(2*n, len(list)))
	sorted := false // the first n of kept are sorted, and the best so far
	for _, i := range list {
		v := valued{value(int(i)), i}
		if sorted && (v.is < kept[n-1].is || v.is == kept[n-1].is && compare(i, kept[n-1].i) > 0) {
			continue
		}
		if kept = append(kept, v); len(kept) == 2*n {
			slices.SortFunc(kept, better)
			kept, sorted = kept[:n], true
		}
	}
	slices.SortFunc(kept, better)
	best := make([]int32, min(n, len(kept)))
	for k := range best {
		best[k] = kept[k].i
	}
	return best
}

// best returns the hits: the best documents that the options admit, and after them, if
// Options.Whole asks for it, more documents that may contain the query word for word.
func (r *ranking) best() ([]Hit, error) {
	list := make([]int32, 0, len(r.items)-1)
	var whole []int32
	for i := range r.items[:len(r.items)-1] {
		it := &r.items[i]
		ok, err := r.passes(it)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		list = append(list, int32(i))
		if int(it.has) < len(r.q.terms) || r.o.Whole == 0 {
			continue
		}
		whole = append(whole, int32(i))
		if it.kind.length() == r.q.length {
			print, err := r.print(int32(i))
			if err != nil {
				return nil, err
			}
			it.equal = print == r.q.print
		}
	}
	g := &gatherer{r: r, list: list, seen: map[uint64]bool{}}
	hits, err := g.gather(nil, list, r.o.Limit, nil)
	if err == nil && len(whole) > 0 {
		best := len(hits)
		hits, err = g.gather(hits, whole, best+r.o.Whole, r.likeQuery)
		for i := best; i < len(hits); i++ {
			hits[i].Spare = true
		}
	}
	return hits, err
}

// likeQuery orders documents that have every term of the query: first those that equal the query,
// then those with the highest own score.
func (r *ranking) likeQuery(i int) float64 {
	if r.items[i].equal {
		return 2
	}
	return 1 / (1 + 1/r.ownOf(i))
}

// inOrder returns the first n elements of list, by descending value, or by descending score if
// value is nil. At equal values, the higher seq comes first, then the smaller id.
func (r *ranking) inOrder(list []int32, n int, value func(i int) float64) ([]int32, error) {
	if value == nil {
		list, value = r.mayScore(list, n), r.scoreOf
	}
	var failed error
	id := func(i int32) format.ID {
		_, id, err := r.sources[r.items[i].source].cold(r.items[i].doc)
		failed = cmp.Or(failed, err)
		return id
	}
	list = top(list, n, value, func(a, b int32) int {
		if c := cmp.Compare(r.items[b].seq, r.items[a].seq); c != 0 || a == b {
			return c
		}
		p, q := id(a), id(b)
		return bytes.Compare(p[:], q[:])
	})
	return list, failed
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
