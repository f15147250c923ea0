package search

import (
	"bytes"
	"cmp"
	"slices"
)

// mergeAll merges sorted lists.
func mergeAll(lists [][]uint64) []uint64 {
	for len(lists) > 1 {
		var next [][]uint64
		for i := 0; i < len(lists); i += 2 {
			if i+1 == len(lists) {
				next = append(next, lists[i])
			} else {
				next = append(next, merge(lists[i], lists[i+1]))
			}
		}
		lists = next
	}
	return lists[0]
}

func merge(a, b []uint64) []uint64 {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// order sorts the items of several sources by session and seq, and items with the same place by id,
// which is their order in a single source. The last item is only the end of the values of the item
// before it.
func (r *ranking) order() error {
	list := r.items[:len(r.items)-1]
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
	if slices.IsSortedFunc(list, compare) {
		return failed
	}
	type whole struct {
		item
		values []value
	}
	all := make([]whole, len(list))
	for i, it := range list {
		all[i] = whole{it, r.values[it.from:r.items[i+1].from]}
	}
	slices.SortStableFunc(all, func(a, b whole) int { return compare(a.item, b.item) })
	values := make([]value, 0, len(r.values))
	for i, w := range all {
		list[i] = w.item
		list[i].from = uint32(len(values))
		values = append(values, w.values...)
	}
	r.values = values
	return failed
}
