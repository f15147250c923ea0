package search

// A ranking looks at the documents one stretch after the other. Of all documents with a term of the
// query only those of a stretch are in memory, and those near them.

const (
	// stretchItems is the number of items that a stretch adds. They and what a ranking computes of
	// them take about 200 KB.
	stretchItems = 2048
	// reach is the largest distance of documents that a look at one of them needs: those near a
	// silent document beside it.
	reach = window + beside
)

// eachStretch calls yield for all documents that have a term of the query, by session and seq, and
// at the same place by id. While yield runs, they are the items from first up to, but not
// including, end, and the items have everything within reach of them.
func (r *ranking) eachStretch(yield func(first, end int) error) error {
	lanes := r.lanes()
	r.clearItems()
	first := 0
	for more := true; more; {
		var err error
		if more, err = r.extend(&lanes, len(r.items)+r.stretch); err != nil {
			return err
		}
		r.endItems()
		end := r.n
		if more {
			end = r.settled()
		}
		if end > first {
			if err := yield(first, end); err != nil {
				return err
			}
		}
		first = r.drop(max(first, end))
	}
	return nil
}

func (r *ranking) clearItems() {
	r.items, r.values, r.n = r.items[:0], r.values[:0], 0
}

// endItems adds an item that is only the end of the values of the last one.
func (r *ranking) endItems() {
	r.n = len(r.items)
	r.items = append(r.items, item{from: uint32(len(r.values))})
	r.scores = resize(r.scores, r.n)
	clear(r.scores)
}

// extend adds items until there are most of them. more is false if there are no others.
func (r *ranking) extend(lanes *[]*lane, most int) (more bool, err error) {
	for len(r.items) < most {
		l, second, err := leastLane(*lanes)
		if err != nil || l == nil {
			return false, err
		}
		if l.opened {
			err = l.take(second, most)
		} else {
			err = l.open()
		}
		if err != nil {
			return false, err
		}
		if l.done {
			*lanes = without(*lanes, l)
		}
	}
	return true, nil
}

// leastLane returns the lane with the next document, and the one that follows. second is nil if
// there is none.
func leastLane(lanes []*lane) (least, second *lane, err error) {
	for _, l := range lanes {
		if least == nil {
			least = l
			continue
		}
		before, err := l.before(least)
		if err != nil {
			return nil, nil, err
		}
		if before {
			least, second = l, least
			continue
		}
		if second == nil || l.comparePlace(second) < 0 {
			second = l
		}
	}
	return least, second, nil
}

func without(lanes []*lane, l *lane) []*lane {
	kept := lanes[:0]
	for _, o := range lanes {
		if o != l {
			kept = append(kept, o)
		}
	}
	return kept
}

// settled returns the index of the first item that later items may be within reach of.
func (r *ranking) settled() int {
	end := r.n
	last := &r.items[end-1]
	for end > 0 && r.items[end-1].session == last.session && last.seq-r.items[end-1].seq <= reach {
		end--
	}
	return end
}

// drop removes the items that are out of reach of all items from first on. It returns the new index
// of first.
func (r *ranking) drop(first int) int {
	r.items = r.items[:r.n] // without the end
	if first == r.n {
		r.items, r.values = r.items[:0], r.values[:0]
		return 0
	}
	at := &r.items[first]
	from := first
	for from > 0 && r.items[from-1].session == at.session && at.seq-r.items[from-1].seq <= reach {
		from--
	}
	values := r.items[from].from
	r.values = r.values[:copy(r.values, r.values[values:])]
	r.items = r.items[:copy(r.items, r.items[from:])]
	for i := range r.items {
		r.items[i].from -= values
	}
	return first - from
}

// resize returns a slice of n elements.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
