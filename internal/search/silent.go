package search

import (
	"cmp"
	"slices"
)

// addSilent adds documents next to the best ones that have no term of the query themselves but
// score well because of the messages near them: an answer need not repeat the question.
func (r *ranking) addSilent() error {
	n := len(r.items) - 1
	best := make([]int, n)
	for i := range best {
		best[i] = i
	}
	better := func(a, b int) int {
		return cmp.Or(cmp.Compare(r.items[b].score, r.items[a].score), cmp.Compare(r.items[b].seq, r.items[a].seq), cmp.Compare(a, b))
	}
	best = top(best, lookBeside, better)
	if len(best) == 0 {
		return nil
	}
	least := float64(minSilent * r.items[best[0]].score)
	type at struct{ source, doc uint32 }
	seen := map[at]bool{}
	near := make([]float64, len(r.q.terms))
	for _, i := range best {
		it := r.items[i]
		for k := range r.sources {
			s := &r.sources[k]
			first, end := s.seqRange(r.names[it.session], it.seq-min(it.seq, beside), it.seq+beside)
			for doc := first; doc < end; doc++ {
				if rewound, hidden := s.Hidden[doc]; hidden && !(rewound && r.o.Rewound) || seen[at{uint32(k), doc}] {
					continue
				}
				seen[at{uint32(k), doc}] = true
				_, seq := s.place(doc)
				add := item{seq: seq, session: it.session, source: uint32(k), doc: doc}
				where, _ := slices.BinarySearchFunc(r.items[:n], add, comparePlaces)
				if r.has(where, add) {
					continue
				}
				if _, err := r.factorOf(&add); err != nil {
					return err
				}
				clear(near)
				r.around(where, &add, near)
				if add.score = r.total(nil, near, add.factor); add.score >= least {
					r.silent = append(r.silent, add)
				}
			}
		}
	}
	return nil
}

// has reports whether a document is among the items. where is the index of the first item with its
// place.
func (r *ranking) has(where int, it item) bool {
	for ; where < len(r.items)-1 && comparePlaces(r.items[where], it) == 0; where++ {
		if o := &r.items[where]; o.source == it.source && o.doc == it.doc {
			return true
		}
	}
	return false
}
