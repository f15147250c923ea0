package summarize

import (
	"cmp"
	"container/heap"
	"slices"
)

// covered is what a term is still worth once a chosen sentence has it, in thousandths.
const covered = 350

// rank chooses among list, greedily by worth per token, until nothing more fits. A sentence's worth only ever falls, when
// one of its terms is covered, and each term is covered once: so the queue is corrected only where it is looked at, and
// the work is bounded by the number of terms in all sentences, times a logarithm.
func rank(src []Source, list []candidate, left room) []Sentence {
	vals, vocabulary := value(src, list)
	seen := make([]bool, vocabulary)
	q := make(queue, len(vals))
	for i := range vals {
		q[i] = bid{density: density(&vals[i], seen), index: i}
	}
	heap.Init(&q)
	var out []Sentence
	for len(q) > 0 {
		v := &vals[q[0].index]
		if now := density(v, seen); now != q[0].density {
			q[0].density = now
			heap.Fix(&q, 0)
			continue
		}
		best := heap.Pop(&q).(bid)
		if !left.take(v.candidate) {
			continue
		}
		for _, s := range v.shares {
			seen[s.term] = true
		}
		from := src[v.src]
		out = append(out, Sentence{Entry: from.Entry, Seq: from.Seq, Pos: v.pos, Weight: best.density, Text: v.text})
	}
	slices.SortStableFunc(out, func(a, b Sentence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Pos, b.Pos))
	})
	return out
}

// overhead is added to the tokens of a sentence, in quarters, when its worth is divided by them: otherwise two words that
// happen to be rare beat every sentence.
const overhead = 4

// density returns what v is worth per token now, in thousandths.
func density(v *valued, seen []bool) int64 {
	worth := int64(0)
	for _, s := range v.shares {
		if seen[s.term] {
			worth += s.value * covered / 1000
		} else {
			worth += s.value
		}
	}
	return worth * v.factor / 1000 * 4 / int64(v.quarters+overhead)
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
