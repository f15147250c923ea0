package search

import (
	"encoding/binary"
	"math"
)

// prepare computes what the scores of all documents need.
func (r *ranking) prepare() error {
	r.near = make([]float64, len(r.q.terms))
	r.traits = make([]traits, 1<<16)
	r.saturated = make([]float64, 1<<16)
	r.named = make([]map[uint32]bool, len(r.sources))
	r.makeKinds()
	if err := r.collect(); err != nil {
		return err
	}
	if err := r.nameAuthors(); err != nil {
		return err
	}
	r.weigh()
	return nil
}

// scoreOf returns the score of an item, by its index, from its own terms and those of the items
// near it. It is above 0.
func (r *ranking) scoreOf(i int) float64 {
	it := &r.items[i]
	clear(r.near)
	r.around(i, it, r.near)
	return r.total(r.valuesOf(it), it.kind, r.near)
}

// isOf returns the contribution of a term to a document of some length.
func (r *ranking) isOf(v value, length uint8) float64 {
	s := &r.saturated[int(length)<<8|int(v.count)]
	if *s == 0 {
		*s = saturate(v.count, lengthOf(length))
	}
	return float64(r.weights[v.term] * *s)
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

// kindOf returns the kind of a document of a source by its hot row.
func (r *ranking) kindOf(source uint32, row []byte) kind {
	k := kind(row[0]) | r.kinds[row[1]]
	if named := r.named[source]; len(named) > 0 && named[binary.BigEndian.Uint32(row[2:])] {
		k |= kindNamed << 8
	}
	return k
}

// makeKinds fills in kinds.
func (r *ranking) makeKinds() {
	for attr := range r.kinds {
		bits := uint8(attr) &^ (attrNumber | attrWhen)
		if uint8(attr)&r.q.attr != 0 {
			bits |= kindWanted
		}
		r.kinds[attr] = kind(bits) << 8
	}
}

// mustOf returns how many terms with must there are.
func (r *ranking) mustOf(values []value) (n uint8) {
	for _, v := range values {
		if r.q.terms[v.term].must {
			n++
		}
	}
	return n
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
		{bits&attrRole == roleUser && r.q.asker, askerGain * min(1, saidLength/max(length, 1))},
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
		decay := float64(
			float64(nearWeight*(1-float64(d)/(window+1))) * float64(r.traitsOf(o.kind).gives*hears))
		length := o.kind.length()
		for _, v := range r.valuesOf(o) {
			near[v.term] = max(near[v.term], float64(decay*r.isOf(v, length)))
		}
		return true
	}
	for k := i - 1; k >= 0 && look(k); k-- {
	}
	for k := i; k < len(r.items) && look(k); k++ {
	}
}

func distance(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// total returns the score of a document: the sum of its own terms, and of the terms near it as far
// as they exceed the own ones. The score is reduced if the document itself lacks terms of the
// query. total changes near.
func (r *ranking) total(own []value, k kind, near []float64) float64 {
	sum, has := 0.0, 0.0
	for _, v := range own {
		is := r.isOf(v, k.length())
		sum += is
		has += r.weights[v.term]
		near[v.term] = max(0, near[v.term]-float64(ownCounts*is))
	}
	for _, n := range near {
		sum += n
	}
	return float64(
		float64(sum*r.traitsOf(k).factor) * (1 - coverPart + float64(coverPart*has)/r.all))
}

// Ln returns the natural logarithm of x, which must be finite and above 0. Its result is the
// same to the bit on all architectures; math.Log has assembly on some of them, and others may
// compile it with fused multiply-adds.
func Ln(x float64) float64 {
	const ln2 = 0.693147180559945309417232121458176568
	frac, exp := math.Frexp(x) // x = frac · 2^exp with frac in [0.5, 1)
	if frac < math.Sqrt2/2 {
		frac, exp = 2*frac, exp-1
	}
	s := (frac - 1) / (frac + 1) // ln frac = 2 (s + s³/3 + s⁵/5 + …), |s| < 0.172
	square, power, sum := float64(s*s), s, 0.0
	for k := 1; k <= 21; k += 2 {
		sum += power / float64(k)
		power = float64(power * square)
	}
	return float64(2*sum) + float64(float64(exp)*ln2)
}

// class says how much a message counts because of its role and form.
type class struct {
	factor float64 // factor of its score
	gives  float64 // share of its terms that counts for messages near it
	hears  float64 // share of the terms of messages near it that counts for it
}

// classOf returns the class of a message of length words.
func classOf(attr uint8, length float64) class {
	role := attr & attrRole
	switch {
	case role >= rolesKept:
		return class{factor: keptFactor}
	case attr&attrNote != 0:
		return class{factor: noteFactor, gives: 1, hears: 1}
	case attr&attrCall != 0:
		return class{factor: bulk(callFactor, length), gives: bulk(callNear, length),
			hears: bulk(callNear, length)}
	case role == roleTool:
		return class{factor: bulk(outputFactor, length), gives: bulk(outputGives, length),
			hears: bulk(outputHears, length)}
	case role == roleModel:
		return class{factor: modelFactor, gives: 1, hears: 1}
	}
	return class{factor: 1, gives: 1, hears: 1}
}

// bulk returns 1 for messages of at most bulkLength words, and falls towards least for very long
// ones.
func bulk(least, length float64) float64 {
	return least + float64((1-least)*min(1, bulkLength/max(length, 1)))
}
