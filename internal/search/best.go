package search

import (
	"cmp"
	"slices"
)

// found is a document that may be among the best.
type found struct {
	item
	at    int     // its place among the items
	score float64 // see scoreOf
	own   float64 // the part of its own terms in the score; of one with every term
	print uint64  // of its words; see printOf
}

// byScore orders documents: the higher score comes first, then the higher seq.
func byScore(a, b *found) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.seq, a.seq))
}

// byLikeness orders documents that have every term of the query: first those that equal the query,
// then those with the most of the terms, then the higher seq.
func byLikeness(a, b *found) int {
	return cmp.Or(compareBool(b.equal, a.equal), cmp.Compare(b.own, a.own),
		cmp.Compare(b.seq, a.seq))
}

// sortFound sorts documents by an order, and those of the same place in it by their places.
func sortFound(list []*found, order func(a, b *found) int) {
	slices.SortFunc(list, func(a, b *found) int {
		return cmp.Or(order(a, b), cmp.Compare(a.at, b.at))
	})
}

// best returns the hits: the best documents that the options admit, and after them, if
// Options.Whole asks for it, more documents that may contain the query word for word.
func (r *ranking) best() ([]Hit, error) {
	all := make([]found, len(r.items))
	ranked := make([]*found, len(all))
	for i := range all {
		all[i] = found{item: r.items[i], at: i, score: r.scoreOf(i)}
		ranked[i] = &all[i]
	}
	sortFound(ranked, byScore)
	known := map[uint64]bool{}
	list, err := r.distinct(ranked, byScore, r.o.Limit, known)
	if err != nil {
		return nil, err
	}
	hits := len(list)
	if r.o.Whole > 0 {
		whole, err := r.whole(all)
		if err != nil {
			return nil, err
		}
		more, err := r.distinct(whole, byLikeness, r.o.Whole, known)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return r.withCopies(list, hits)
}

// distinct returns the first documents that the options admit, as many as most says at the most. Of
// those with the same print, except 0, only the first one counts, and none whose print is known.
// ranked is in an order; of the same place in it the smaller id comes first.
func (r *ranking) distinct(
	ranked []*found, order func(a, b *found) int, most int, known map[uint64]bool,
) (list []*found, err error) {
	for n := 0; len(ranked) > 0; ranked = ranked[n:] {
		for n = 1; n < len(ranked) && order(ranked[0], ranked[n]) == 0; {
			n++
		}
		slices.SortFunc(ranked[:n], func(a, b *found) int { return r.compareIDs(&a.item, &b.item) })
		for _, f := range ranked[:n] {
			if len(list) == most {
				return list, r.failed
			}
			if ok, err := r.passes(&f.item); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			if err := r.setPrint(f); err != nil {
				return nil, err
			}
			if !known[f.print] {
				known[f.print] = f.print != 0
				list = append(list, f)
			}
		}
	}
	return list, r.failed
}

// setPrint sets the print of a document, and whether it has only the words of the query.
func (r *ranking) setPrint(f *found) (err error) {
	f.print, err = r.sources[f.source].print(f.doc)
	f.equal = r.o.Whole > 0 && int(f.has) == r.q.own() &&
		f.kind.length() == r.q.length && f.print == r.q.print
	return err
}

// whole returns the documents that have every term of the query, in the order byLikeness.
func (r *ranking) whole(all []found) (list []*found, err error) {
	for i := range all {
		f := &all[i]
		if int(f.has) < r.q.own() {
			continue
		}
		if f.kind.length() == r.q.length {
			if err := r.setPrint(f); err != nil {
				return nil, err
			}
		}
		for _, v := range r.valuesOf(&f.item)[:f.has] {
			f.own += r.isOf(v, f.kind.length())
		}
		list = append(list, f)
	}
	sortFound(list, byLikeness)
	return list, nil
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
