package summarize

import "container/heap"

// covered is what a term is still worth once a chosen sentence has it, in thousandths.
const covered = 200

// overhead is added to the tokens of a sentence, in quarters, when its worth is divided by them: otherwise two words that
// happen to be rare beat every sentence.
const overhead = 5

// ranking gives sentences best first, by worth per token. A sentence's worth only ever falls, when one of its terms is covered,
// and each term is covered once: so the queue is corrected only where it is looked at, and the work is bounded by the number of
// terms in all sentences, times a logarithm.
type ranking struct {
	list []valued
	seen []bool // by number of the term: a sentence that was taken has it
	gone []bool // by index: not to be taken any more
	q    queue
	near rivals
	// purse is what may still be spent on what is urgent, in quarters of a token.
	purse int
}

// newRanking ranks list, which is in order. What is urgent comes first for no more than most quarters of a token.
func newRanking(list []candidate, authors []string, most int) *ranking {
	vals, vocabulary := value(list, authors)
	r := &ranking{list: vals, seen: make([]bool, vocabulary), gone: make([]bool, len(vals)), q: make(queue, len(vals)), purse: most}
	r.near = findRivals(vals, vocabulary)
	for i := range vals {
		r.q[i] = bid{density: r.density(i), index: i}
	}
	heap.Init(&r.q)
	return r
}

// best takes the best sentence out of the queue. It counts as chosen only after take.
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

// take says that the sentence of that index was chosen.
func (r *ranking) take(i int) {
	for _, s := range r.list[i].shares {
		r.seen[s.term] = true
	}
	for _, other := range r.near.of(i) {
		r.gone[other] = true
	}
	if r.list[i].first > 0 {
		r.purse -= r.list[i].quarters
	}
}

// density returns what sentence i is worth per token now, in thousandths.
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
	if v.quarters <= r.purse {
		density += v.first
	}
	return density
}

// bid is a sentence in the queue with its density when it was last looked at.
type bid struct {
	density int64
	index   int
}

// queue is a heap with the densest sentence on top, at equal density the one that comes first.
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
