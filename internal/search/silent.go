package search

import (
	"slices"
)

// silent returns the documents next to the best ones that have no term of the query themselves but
// score well because of the messages near them: an answer need not repeat the question.
func (r *ranking) silent(best []*found) ([]*found, error) {
	if len(best) == 0 {
		return nil, nil
	}
	least := float64(minSilent * best[0].score)
	var silent []*found
	type at struct{ source, doc uint32 }
	seen := map[at]bool{}
	near := make([]float64, len(r.q.terms))
	for _, it := range best {
		for k := range r.sources {
			s := &r.sources[k]
			first, end := s.seqRange(r.names[it.session], it.seq-min(it.seq, beside), it.seq+beside)
			for doc := first; doc < end; doc++ {
				if seen[at{uint32(k), doc}] || !r.o.sees(s, doc) {
					continue
				}
				seen[at{uint32(k), doc}] = true
				_, seq := s.place(doc)
				add := &found{item: item{seq: seq, session: it.session,
					source: uint32(k), doc: doc}}
				where, _ := slices.BinarySearchFunc(r.items, add.item, comparePlaces)
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
				add.at = len(r.items) + len(silent)
				silent = append(silent, add)
			}
		}
	}
	return silent, nil
}

// has reports whether a document is among the items. where is the index of the first item with its
// place.
func (r *ranking) has(where int, it item) bool {
	for ; where < len(r.items) && comparePlaces(r.items[where], it) == 0; where++ {
		if o := &r.items[where]; o.source == it.source && o.doc == it.doc {
			return true
		}
	}
	return false
}
