package search

// score computes the score of every item from its own terms and those of the items near it.
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
		for _, v := range r.valuesOf(i) {
			it.own += v.is
		}
		it.score = r.total(r.valuesOf(i), near, it.factor)
	}
	return nil
}

// weigh computes the weights of the query's terms from their frequencies.
func (r *ranking) weigh() {
	r.weights = make([]float64, len(r.q.terms))
	for i, t := range r.q.terms {
		idf := Ln(1 + float64(r.live)/float64(max(r.df[i], 1)))
		r.weights[i] = float64(t.weight * idf)
		if r.isName(t.word) {
			r.weights[i] = float64(r.weights[i] * nameWeight)
		}
		r.all += r.weights[i]
	}
}

// saturate returns how much a term counts that occurs count halves times in a document of length
// words. Twice as many occurrences count less than double, and an occurrence in a short document
// counts more.
func saturate(count uint8, length float64) float64 {
	tf := float64(count) / 2
	norm := float64(k1 * (1 - lengthPart + float64(lengthPart*length)/usualLength))
	return float64(tf*(k1+1)) / (tf + norm)
}

// factorOf sets the factor of a document's score and returns the length of the document in words.
func (r *ranking) factorOf(it *item) (length float64, err error) {
	size, attr, author, err := r.sources[it.source].hotRow(it.doc)
	if err != nil {
		return 0, err
	}
	it.length = size
	it.sign = (it.sign ^ uint64(size)) * 1099511628211
	length = lengthOf(size)
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
	class := classOf(attr, length)
	it.gives, it.hears = class.gives, class.hears
	it.factor = float64(it.factor * class.factor)
	return length, nil
}

// around adds to near the terms of the documents around item it, which is at or before index i. Of
// each term only the largest contribution counts, and contributions fall with distance.
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
		decay := float64(float64(nearWeight*(1-float64(d)/(window+1))) * float64(o.gives*it.hears))
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

// total returns the score of a document: the sum of its own terms, and of the terms near it as far
// as they exceed the own ones. The score is reduced if the document itself lacks terms of the
// query. total changes near.
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
