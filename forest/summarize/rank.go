package summarize

import "container/heap"

// covered is the remaining value of a term after a chosen sentence has it, in thousandths.
const covered = 200

// overhead is added to the tokens of a sentence, in quarters, before its value is divided by them.
// Without it, two words that happen to be rare would beat every sentence.
const overhead = 5

// ranking yields sentences in descending order of value per token. The value of a sentence only
// falls, when one of its terms is covered, and each term is covered only once. The queue is
// therefore corrected only at its top, and the work is bounded by the number of terms in all
// sentences, times a logarithm.
type ranking struct {
	list []valued
	seen []bool // by number of the term: a taken sentence has it
	gone []bool // by index: must not be taken any more
	q    queue
	// The remaining budgets for urgent sentences and for those on a focus, in quarters of a token.
	purse, focusPurse int
}

// newRanking ranks list, which is in reading order. Urgent sentences come first up to most quarters
// of a token.
func newRanking(list []candidate, authors []string, most int) *ranking {
	vals, vocabulary := value(list, authors)
	r := &ranking{list: vals, seen: make([]bool, vocabulary), gone: overtaken(vals),
		q: make(queue, len(vals)), purse: most, focusPurse: most}
	r.rank()
	return r
}

// rank makes the queue anew.
func (r *ranking) rank() {
	for i := range r.list {
		r.q[i] = bid{density: r.density(i), index: i}
	}
	heap.Init(&r.q)
}

// purseOf returns the budget from which sentence i comes first, nil if it does not.
func (r *ranking) purseOf(i int) *int {
	switch first := r.list[i].first; {
	case first >= focused:
		return &r.focusPurse
	case first > 0:
		return &r.purse
	}
	return nil
}

// best removes the best sentence from the queue. It counts as taken only after take.
func (r *ranking) best() (bid, bool) {
	for len(r.q) > 0 {
		top := r.q[0]
		if r.gone[top.index] {
			heap.Pop(&r.q)
			continue
		}
		if now := r.density(top.index); now != top.density {
			r.q[0].density = now
			heap.Fix(&r.q, 0)
			continue
		}
		heap.Pop(&r.q)
		return top, true
	}
	return bid{}, false
}

// take records that sentence i was taken.
func (r *ranking) take(i int) {
	for _, s := range r.list[i].shares {
		r.seen[s.term] = true
	}
	if purse := r.purseOf(i); purse != nil {
		*purse -= r.list[i].quarters
	}
}

// density returns the current value per token of sentence i, in thousandths.
func (r *ranking) density(i int) int64 {
	v := &r.list[i]
	worth := int64(0)
	for _, s := range v.shares {
		if r.seen[s.term] {
			worth += s.value * covered / 1000
		} else {
			worth += s.value
		}
	}
	density := worth * v.factor / 1000 * 4 / int64(v.quarters+overhead)
	if purse := r.purseOf(i); purse != nil && v.quarters <= *purse {
		density += v.first
	}
	return density
}

// bid is a sentence in the queue with its last computed density.
type bid struct {
	density int64
	index   int
}

// queue is a heap with the densest sentence at the top; at equal density, the first one.
type queue []bid

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return q[i].density > q[j].density || q[i].density == q[j].density && q[i].index < q[j].index
}
func (q *queue) Push(x any) { *q = append(*q, x.(bid)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
