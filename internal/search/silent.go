package search

import (
	"cmp"
	"slices"
)

// mostSilent is the largest number of documents that addSilent adds of one source, if no two have
// the same seq.
const mostSilent = lookBeside * 2 * beside

// addSilent adds documents next to the best ones that have no term of the query themselves but
// score well because of the messages near them: an answer need not repeat the question.
func (r *ranking) addSilent() error {
	best := make([]int32, r.n)
	for i := range best {
		best[i] = int32(i)
	}
	best = top(r.mayScore(best, lookBeside), lookBeside, r.scoreOf, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.items[b].seq, r.items[a].seq), cmp.Compare(a, b))
	})
	if len(best) == 0 {
		return nil
	}
	least := float64(minSilent * r.scoreOf(int(best[0])))
	var silent []item
	var scores []float64
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
				add := item{seq: seq, session: it.session, source: uint32(k), doc: doc, from: uint32(len(r.values))}
				where, _ := slices.BinarySearchFunc(r.items[:r.n], add, comparePlaces)
				if r.has(where, add) {
					continue
				}
				var err error
				if add.kind, err = r.kindOf(&add); err != nil {
					return err
				}
				clear(near)
				r.around(where, &add, near)
				if score := r.total(nil, add.kind, near); score >= least {
					silent, scores = append(silent, add), append(scores, score)
				}
			}
		}
	}
	end := r.items[r.n]
	r.items = append(append(r.items[:r.n], silent...), end)
	r.scores = append(r.scores, scores...)
	return nil
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
