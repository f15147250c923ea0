package search

import (
	"cmp"
	"slices"
)

// found is a document that may be among the best.
type found struct {
	item
	score float64 // see scoreOf
	print uint64  // of its words; see printOf
}

// compare orders documents: the higher score comes first, then the higher seq, then the smaller id.
func (r *ranking) compare(a, b *found) int {
	return cmp.Or(cmp.Compare(b.score, a.score), r.compareSeqs(a, b))
}

func (r *ranking) compareSeqs(a, b *found) int {
	return cmp.Or(cmp.Compare(b.seq, a.seq), r.compareIDs(&a.item, &b.item))
}

// best returns the hits: the best documents that the options admit, and after them, if
// Options.Whole asks for it, more documents that may contain the query word for word.
func (r *ranking) best() ([]Hit, error) {
	all := make([]found, len(r.items))
	ranked := make([]*found, len(all))
	for i := range all {
		all[i] = found{item: r.items[i], score: r.scoreOf(i)}
		ranked[i] = &all[i]
	}
	slices.SortFunc(ranked, r.compare)
	silent, err := r.silent(ranked[:min(len(ranked), lookBeside)])
	if err != nil {
		return nil, err
	}
	if len(silent) > 0 {
		ranked = append(ranked, silent...)
		slices.SortFunc(ranked, r.compare)
	}
	known := map[uint64]bool{}
	list, err := r.distinct(ranked, r.o.Limit, known)
	if err != nil {
		return nil, err
	}
	hits := len(list)
	if r.o.Whole > 0 {
		whole, err := r.whole(all)
		if err != nil {
			return nil, err
		}
		more, err := r.distinct(whole, r.o.Whole, known)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if r.failed != nil {
		return nil, r.failed
	}
	return r.withCopies(list, hits, silent)
}

// distinct returns the first documents that the options admit, as many as most says at the most. Of
// those with the same print, except 0, only the first one counts, and none whose print is known.
func (r *ranking) distinct(
	ranked []*found, most int, known map[uint64]bool,
) (list []*found, err error) {
	for _, f := range ranked {
		if len(list) == most {
			break
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
	return list, nil
}

// setPrint sets the print of a document, and whether it has only the words of the query.
func (r *ranking) setPrint(f *found) (err error) {
	f.print, err = r.sources[f.source].print(f.doc)
	f.equal = r.o.Whole > 0 && int(f.has) == len(r.q.terms) &&
		f.kind.length() == r.q.length && f.print == r.q.print
	return err
}

// whole returns the documents that have every term of the query: first those that equal the query,
// then those with the most of the terms.
func (r *ranking) whole(all []found) ([]*found, error) {
	var list []*found
	own := map[*found]float64{}
	for i := range all {
		f := &all[i]
		if int(f.has) < len(r.q.terms) {
			continue
		}
		if f.kind.length() == r.q.length {
			if err := r.setPrint(f); err != nil {
				return nil, err
			}
		}
		for _, v := range r.valuesOf(&f.item) {
			own[f] += r.isOf(v, f.kind.length())
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *found) int {
		return cmp.Or(compareBool(b.equal, a.equal), cmp.Compare(own[b], own[a]),
			r.compareSeqs(a, b))
	})
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
