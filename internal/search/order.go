package search

import (
	"bytes"
	"cmp"
)

// order sorts the items of several sources by session and seq, and items with the same place by id,
// which is their order in a single source. The items of source i, which are sorted, end at ends[i].
func (r *ranking) order(ends []int) error {
	list := r.items[:r.n]
	if len(r.sources) == 1 {
		return nil
	}
	var failed error
	compare := func(a, b item) int {
		if c := comparePlaces(a, b); c != 0 || a.source == b.source && a.doc == b.doc {
			return c
		}
		_, x, err := r.sources[a.source].cold(a.doc)
		failed = cmp.Or(failed, err)
		_, y, err := r.sources[b.source].cold(b.doc)
		failed = cmp.Or(failed, err)
		return bytes.Compare(x[:], y[:])
	}
	sorted := true
	for _, end := range ends {
		if end > 0 && end < r.n && compare(list[end-1], list[end]) > 0 {
			sorted = false
		}
	}
	if sorted {
		return failed
	}
	items := make([]item, 0, cap(r.items))
	values := make([]value, 0, len(r.values))
	at := append([]int{0}, ends[:len(ends)-1]...)
	for len(items) < r.n {
		least := -1
		for i := range at {
			if at[i] < ends[i] && (least < 0 || compare(list[at[i]], list[at[least]]) < 0) {
				least = i
			}
		}
		it := list[at[least]]
		own := r.valuesOf(at[least])
		it.from = uint32(len(values))
		items, values = append(items, it), append(values, own...)
		at[least]++
	}
	r.items, r.values = append(items, r.items[r.n]), values
	return failed
}
