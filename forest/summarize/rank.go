package summarize

import "github.com/gemini-ctx/ctx/internal/lists"

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
	q    lists.Heap[bid]
	// The remaining budgets for urgent sentences and for those on a focus, in quarters of a token.
	purse, focusPurse int
}

// newRanking ranks list, which is in reading order. Urgent sentences come first up to most quarters
// of a token.
func newRanking(list []candidate, authors []string, most int) *ranking {
	vals, vocabulary := value(list, authors)
	r := &ranking{list: vals, seen: make([]bool, vocabulary), gone: overtaken(vals),
		q:     lists.Heap[bid]{List: make([]bid, len(vals)), Before: bid.before},
		purse: most, focusPurse: most}
	r.rank()
	return r
}

// rank makes the queue anew.
func (r *ranking) rank() {
	for i := range r.list {
		r.q.List[i] = bid{density: r.density(i), index: i}
	}
	r.q.Init()
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
	for len(r.q.List) > 0 {
		top := r.q.List[0]
		if r.gone[top.index] {
			r.q.Take()
			continue
		}
		if now := r.density(top.index); now != top.density {
			r.q.List[0].density = now
			r.q.Settle()
			continue
		}
		r.q.Take()
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

// before has the densest sentence come first; at equal density, the first one.
func (b bid) before(other bid) bool {
	return b.density > other.density || b.density == other.density && b.index < other.index
}
