package search

import "slices"

// Most items of a query for common words cannot be among the best ones. A score takes time because
// of the items near it, so it is computed only of items whose bound is high enough. A bound is
// computed from the item's own terms and from the largest values of the terms in its block of
// items and in the blocks that its window reaches.

const (
	boundBlock = 64
	// boundSlack makes up for the rounding of bounds, which are added up in another order than
	// scores.
	boundSlack = 1 + 1e-6
)

// bound computes the bounds of all items, unless it has done so.
func (r *ranking) bound() {
	if r.bounds != nil || r.n == 0 {
		return
	}
	terms := len(r.q.terms)
	blocks := (r.n + boundBlock - 1) / boundBlock
	largest := make([]float64, blocks*terms)
	for i := range r.items[:r.n] {
		m := largest[i/boundBlock*terms:][:terms]
		length := r.items[i].kind.length()
		for _, v := range r.valuesOf(i) {
			m[v.term] = max(m[v.term], r.is(v, length))
		}
	}
	r.bounds = make([]float32, r.n)
	near := make([]float64, terms)
	for block := range blocks {
		first, end := block*boundBlock, min((block+1)*boundBlock, r.n)
		clear(near)
		add := func(block int) {
			for t, v := range largest[block*terms:][:terms] {
				near[t] = max(near[t], nearWeight*v)
			}
		}
		add(block)
		for k := block - 1; k >= 0 && r.reaches((k+1)*boundBlock-1, first); k-- {
			add(k)
		}
		for k := block + 1; k < blocks && r.reaches(k*boundBlock, end-1); k++ {
			add(k)
		}
		all := 0.0
		for _, n := range near {
			all += n
		}
		for i := first; i < end; i++ {
			k := r.items[i].kind
			sum, has := all, 0.0
			for _, v := range r.valuesOf(i) {
				is := r.is(v, k.length())
				sum += is - min(near[v.term], ownCounts*is)
				has += r.weights[v.term]
			}
			cover := 1 - coverPart + coverPart*has/r.all
			r.bounds[i] = float32(sum * r.traitsOf(k).factor * cover * boundSlack)
		}
	}
}

// reaches reports whether two items are near each other.
func (r *ranking) reaches(i, k int) bool {
	a, b := &r.items[i], &r.items[k]
	return a.session == b.session && distance(a.seq, b.seq) <= window
}

// mayScore returns those elements of list that can be among the n with the highest scores: as many
// as have at least the score of the n-th.
func (r *ranking) mayScore(list []int32, n int) []int32 {
	if len(list) <= 4*n {
		return list
	}
	r.bound()
	bound := func(i int) float32 {
		if i < r.n {
			return r.bounds[i]
		}
		return float32(r.scoreOf(i) * boundSlack) // a silent one, whose score is known
	}
	some := top(list, 2*n, bound, func(a, b int32) int { return int(a) - int(b) })
	scores := make([]float64, len(some))
	for k, i := range some {
		scores[k] = r.scoreOf(int(i))
	}
	slices.Sort(scores)
	least := scores[len(scores)-n]
	var may []int32
	for _, i := range list {
		if float64(bound(int(i))) >= least {
			may = append(may, i)
		}
	}
	return may
}
