package search

// Most documents with a term of a query for common words cannot be among the best ones. A score
// takes time because of the items near it, so it is computed only of items whose bound is high
// enough. A bound is computed from the item's own terms and from the largest values of the terms in
// its block of items and in the blocks that its window reaches.

const (
	boundBlock = 64
	// boundSlack makes up for the rounding of bounds, which are added up in another order than
	// scores.
	boundSlack = 1 + 1e-6
)

// bound computes the bounds and the own parts of the scores of the items from first up to, but not
// including, end.
func (r *ranking) bound(first, end int) {
	terms := len(r.q.terms)
	r.bounds, r.owns = resize(r.bounds, r.n), resize(r.owns, r.n)
	r.largest = resize(r.largest, (r.n+boundBlock-1)/boundBlock*terms)
	clear(r.largest)
	r.blocks = resize(r.blocks, len(r.largest))
	items, values, weights, saturated := r.items, r.values, r.weights, r.saturated
	for i := range items[:r.n] {
		largest := r.largest[i/boundBlock*terms:][:terms]
		row := int(items[i].kind.length()) << 8
		own, has := 0.0, 0.0
		for _, v := range values[items[i].from:items[i+1].from] {
			s := saturated[row|int(v.count)]
			if s == 0 {
				s = r.saturate(v.count, items[i].kind.length())
			}
			weight := weights[v.term]
			is := float64(weight * s)
			if is > largest[v.term] {
				largest[v.term] = is
			}
			own += is
			has += weight
		}
		r.owns[i] = own
		r.bounds[i] = float32(1 - coverPart + coverPart*has/r.all) // the last factor of a bound
	}
	for block := first / boundBlock; block*boundBlock < end; block++ {
		others := r.nearBlock(block, r.blocks[block*terms:][:terms])
		for i := max(first, block*boundBlock); i < min(end, (block+1)*boundBlock); i++ {
			sum := others + (1-ownCounts)*r.owns[i]
			r.bounds[i] *= float32(sum * r.traitsOf(items[i].kind).factor * boundSlack)
		}
	}
}

// nearBlock sets near to the largest values of the terms near the items of a block. It returns what
// these add to a score at most, if the share ownCounts of each own value is subtracted. An item
// cannot lose more of a term than what is near it, so the part of the share that exceeds this is
// added again: of the largest own value in the block, which is at least that of the item.
func (r *ranking) nearBlock(block int, near []float64) float64 {
	clear(near)
	add := func(block int) {
		for t, v := range r.largest[block*len(near):][:len(near)] {
			near[t] = max(near[t], nearWeight*v)
		}
	}
	add(block)
	first, last := block*boundBlock, min((block+1)*boundBlock, r.n)-1
	for k := block - 1; k >= 0 && r.reaches((k+1)*boundBlock-1, first); k-- {
		add(k)
	}
	for k := block + 1; k*boundBlock < r.n && r.reaches(k*boundBlock, last); k++ {
		add(k)
	}
	sum := 0.0
	for t, v := range r.largest[block*len(near):][:len(near)] {
		sum += max(near[t], ownCounts*v)
	}
	return sum
}

// mayReach reports whether the score of an item can be at least a value. It is closer than bound,
// and takes longer.
func (r *ranking) mayReach(i int, value float64) bool {
	near := r.blocks[i/boundBlock*len(r.weights):][:len(r.weights)]
	it := &r.items[i]
	sum, has := 0.0, 0.0
	for _, n := range near {
		sum += n
	}
	for _, v := range r.valuesOf(i) {
		is := r.isOf(v, it.kind.length())
		sum += is - min(near[v.term], ownCounts*is)
		has += r.weights[v.term]
	}
	cover := 1 - coverPart + coverPart*has/r.all
	return sum*r.traitsOf(it.kind).factor*cover*boundSlack >= value
}

// reaches reports whether two items are near each other.
func (r *ranking) reaches(i, k int) bool {
	a, b := &r.items[i], &r.items[k]
	return a.session == b.session && distance(a.seq, b.seq) <= window
}
