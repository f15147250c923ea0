package search

// prepare computes what the scores of all items need.
func (r *ranking) prepare() error {
	if err := r.nameAuthors(); err != nil {
		return err
	}
	r.weigh()
	r.near = make([]float64, len(r.q.terms))
	r.traits = make([]traits, 1<<16)
	r.saturated = make([]float64, 1<<16)
	r.scores = make([]float64, r.n, cap(r.items))
	for i := range r.items[:r.n] {
		it := &r.items[i]
		var err error
		if it.kind, err = r.kindOf(it); err != nil {
			return err
		}
		it.short = uint16((uint32(it.short) ^ uint32(it.kind.length())<<4) * signPrime >> 16)
	}
	return nil
}

// scoreOf returns the score of an item, from its own terms and those of the items near it. It is
// above 0.
func (r *ranking) scoreOf(i int) float64 {
	if r.scores[i] == 0 {
		it := &r.items[i]
		clear(r.near)
		r.around(i, it, r.near)
		r.scores[i] = r.total(r.valuesOf(i), it.kind, r.near)
	}
	return r.scores[i]
}

// is returns the contribution of a term to a document of some length.
func (r *ranking) is(v value, length uint8) float64 {
	if s := r.saturated[int(length)<<8|int(v.count)]; s != 0 {
		return float64(r.weights[v.term] * s)
	}
	return r.isFirst(v, length)
}

func (r *ranking) isFirst(v value, length uint8) float64 {
	s := saturate(v.count, lengthOf(length))
	r.saturated[int(length)<<8|int(v.count)] = s
	return float64(r.weights[v.term] * s)
}

// ownOf returns the part of the score of an item from its own terms, before its factor.
func (r *ranking) ownOf(i int) float64 {
	own := 0.0
	length := r.items[i].kind.length()
	for _, v := range r.valuesOf(i) {
		own += r.is(v, length)
	}
	return own
}

// signOf returns a hash of the terms, counts and length of an item. Copies have the same.
func (r *ranking) signOf(i int) uint64 {
	const prime = 1099511628211
	sign := uint64(0)
	for _, v := range r.valuesOf(i) {
		sign = (sign ^ (uint64(v.term)<<8 | uint64(v.count))) * prime
	}
	return (sign ^ uint64(r.items[i].kind.length())) * prime
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

// kind has the properties of a document that determine how much it counts: its length as
// lengthClass returns it, and above it the bits of attr. The bits of attrNumber and attrWhen mean
// other things here.
type kind uint16

const (
	kindWanted = attrNumber // it has a property that the query asks for
	kindNamed  = attrWhen   // the query names its author
)

func (k kind) length() uint8 { return uint8(k) }

func (r *ranking) kindOf(it *item) (kind, error) {
	length, attr, author, err := r.sources[it.source].hotRow(it.doc)
	if err != nil {
		return 0, err
	}
	bits := attr &^ (attrNumber | attrWhen)
	if attr&r.q.attr != 0 {
		bits |= kindWanted
	}
	if named := r.named[it.source]; len(named) > 0 && named[author] {
		bits |= kindNamed
	}
	return kind(length) | kind(bits)<<8, nil
}

// traits is how much a document of some kind counts.
type traits struct {
	factor       float64 // factor of its score; above 0
	gives, hears float64 // see class
}

func (r *ranking) traitsOf(k kind) *traits {
	t := &r.traits[k]
	if t.factor != 0 {
		return t
	}
	length, bits := lengthOf(k.length()), uint8(k>>8)
	t.factor = 1 + float64(longGain*min(length, enough))/enough
	if length < short {
		t.factor = float64(t.factor * (1 - float64(shortLoss*(1-length/short))))
	}
	for _, is := range []struct {
		so   bool
		gain float64
	}{
		{bits&kindNamed != 0, authorGain},
		{bits&kindWanted != 0, wantGain},
		{bits&attrRole == roleUser, userGain},
		{bits&attrQuestion != 0, -questionLoss},
	} {
		if is.so {
			t.factor = float64(t.factor * (1 + is.gain))
		}
	}
	class := classOf(bits, length)
	t.gives, t.hears = class.gives, class.hears
	t.factor = float64(t.factor * class.factor)
	return t
}

// around adds to near the terms of the documents around item it, which is at or before index i. Of
// each term only the largest contribution counts, and contributions fall with distance.
func (r *ranking) around(i int, it *item, near []float64) {
	hears := r.traitsOf(it.kind).hears
	look := func(k int) bool {
		o := &r.items[k]
		d := distance(o.seq, it.seq)
		if o.session != it.session || d > window {
			return false
		}
		if o.source == it.source && o.doc == it.doc {
			return true
		}
		decay := float64(float64(nearWeight*(1-float64(d)/(window+1))) * float64(r.traitsOf(o.kind).gives*hears))
		length := o.kind.length()
		for _, v := range r.valuesOf(k) {
			near[v.term] = max(near[v.term], float64(decay*r.is(v, length)))
		}
		return true
	}
	for k := i - 1; k >= 0 && look(k); k-- {
	}
	for k := i; k < r.n && look(k); k++ {
	}
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// total returns the score of a document: the sum of its own terms, and of the terms near it as far
// as they exceed the own ones. The score is reduced if the document itself lacks terms of the
// query. total changes near.
func (r *ranking) total(own []value, k kind, near []float64) float64 {
	sum, has := 0.0, 0.0
	for _, v := range own {
		is := r.is(v, k.length())
		sum += is
		has += r.weights[v.term]
		near[v.term] = max(0, near[v.term]-float64(ownCounts*is))
	}
	for _, n := range near {
		sum += n
	}
	return float64(float64(sum*r.traitsOf(k).factor) * (1 - coverPart + float64(coverPart*has)/r.all))
}
