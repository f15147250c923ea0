package search

import (
	"cmp"
	"slices"
)

// excerpt is a copy of some items with their values.
type excerpt struct {
	items  []item // and the end of the values
	values []value
}

// excerptAt returns the items within reach of an item.
func (r *ranking) excerptAt(i int) *excerpt {
	at := &r.items[i]
	near := func(k int) bool {
		return r.items[k].session == at.session && distance(r.items[k].seq, at.seq) <= reach
	}
	first, end := i, i+1
	for first > 0 && near(first-1) {
		first--
	}
	for end < r.n && near(end) {
		end++
	}
	from := r.items[first].from
	e := &excerpt{items: slices.Clone(r.items[first : end+1]),
		values: slices.Clone(r.values[from:r.items[end].from])}
	for k := range e.items {
		e.items[k].from -= from
	}
	return e
}

// setAround makes the excerpts around documents the items of the ranking.
func (r *ranking) setAround(list []*found) {
	type copied struct {
		item
		values []value
	}
	var all []copied
	for _, f := range list {
		for k := range f.around.items[:len(f.around.items)-1] {
			it := f.around.items[k]
			all = append(all, copied{it, f.around.values[it.from:f.around.items[k+1].from]})
		}
	}
	compare := func(a, b copied) int {
		return cmp.Or(comparePlaces(a.item, b.item), cmp.Compare(a.source, b.source),
			cmp.Compare(a.doc, b.doc))
	}
	slices.SortFunc(all, compare)
	all = slices.CompactFunc(all, func(a, b copied) bool { return compare(a, b) == 0 })
	r.clearItems()
	for _, c := range all {
		c.from = uint32(len(r.values))
		r.items, r.values = append(r.items, c.item), append(r.values, c.values...)
	}
	r.endItems()
}

// silent returns the documents next to the best ones that have no term of the query themselves but
// score well because of the messages near them, and that the options admit: an answer need not
// repeat the question.
func (r *ranking) silent(best []*found) ([]*found, error) {
	if len(best) == 0 {
		return nil, nil
	}
	r.setAround(best)
	least := float64(minSilent * best[0].value)
	var silent []*found
	type at struct{ source, doc uint32 }
	seen := map[at]bool{}
	near := make([]float64, len(r.q.terms))
	for _, it := range best {
		for k := range r.sources {
			s := &r.sources[k]
			first, end := s.seqRange(r.names[it.session], it.seq-min(it.seq, beside), it.seq+beside)
			for doc := first; doc < end; doc++ {
				if rewound, hidden := s.Hidden[doc]; hidden && !(rewound && r.o.Rewound) ||
					seen[at{uint32(k), doc}] {
					continue
				}
				seen[at{uint32(k), doc}] = true
				_, seq := s.place(doc)
				add := &found{item: item{seq: seq, session: it.session,
					source: uint32(k), doc: doc}}
				where, _ := slices.BinarySearchFunc(r.items[:r.n], add.item, comparePlaces)
				if r.has(where, add.item) {
					continue
				}
				row, err := s.hotRow(doc)
				if err != nil {
					return nil, err
				}
				add.kind = r.kindOf(uint32(k), row)
				clear(near)
				r.around(where, &add.item, near)
				if add.score = r.total(nil, add.kind, near); add.score < least {
					continue
				}
				add.value = add.score
				ok, err := r.passes(&add.item)
				if err == nil && ok {
					add.print, err = s.print(doc)
					silent = append(silent, add)
				}
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return silent, nil
}

// has reports whether a document is among the items. where is the index of the first item with its
// place.
func (r *ranking) has(where int, it item) bool {
	for ; where < r.n && comparePlaces(r.items[where], it) == 0; where++ {
		if o := &r.items[where]; o.source == it.source && o.doc == it.doc {
			return true
		}
	}
	return false
}
