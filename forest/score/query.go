package score

import (
	"cmp"
	"math/bits"
	"slices"
)

// query is a bag with the weight of each term and the clusters that have the term.
type query struct {
	terms []weighted
	all   int   // sum of the squared weights
	cover []int // by cluster: the share of that sum that the cluster has
}

type weighted struct {
	key    uint32
	weight int    // rarity times 1 + log2 of the number of occurrences, in 256ths
	in     uint64 // the clusters that have the term: one bit for each index
}

// maxQuery is the number of terms of a unit that are looked up, those of the largest weight. A
// message has fewer terms; an exchange may have a thousand.
const maxQuery = 256

// query computes the weights of a bag's terms and looks them up in all clusters.
func (c *Candidates) query(b bag) query {
	q := query{terms: make([]weighted, len(b)), cover: make([]int, len(c.clusters))}
	for i, t := range b {
		q.terms[i] = weighted{key: t.key,
			weight: c.common.rarity(t.key) * (one + lg(int(t.n))) / one}
	}
	if len(q.terms) > maxQuery {
		slices.SortFunc(q.terms, func(x, y weighted) int {
			return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.key, y.key))
		})
		q.terms = q.terms[:maxQuery]
	}
	for i := range q.terms {
		x := &q.terms[i]
		x.in = c.holders(x.key)
		square := x.weight * x.weight
		q.all += square
		for in := x.in; in != 0; in &= in - 1 {
			q.cover[bits.TrailingZeros64(in)] += square
		}
	}
	for at := range q.cover {
		// A long cluster has some of any words, so its share is reduced.
		length := 4*one + lg(len(c.clusters[at].terms)+1)/2
		q.cover[at] = q.cover[at] * one / max(q.all, 1) * 4 * one / length
	}
	return q
}

// holders returns the clusters that have a term: one bit for each index.
func (c *Candidates) holders(key uint32) uint64 {
	var in uint64
	for at, k := range c.clusters {
		if k.contains(key) {
			in |= 1 << at
		}
	}
	return in
}

// like returns how much of the query a cluster has, from 0 to 1 in 256ths.
func (q query) like(at int) int { return q.cover[at] }

// votes divides the weight of each term among the clusters that have it, so that a term that only
// one cluster has counts most.
type votes struct {
	got   []int // by cluster
	given int   // weight of the terms that some cluster has
	all   int   // weight of all terms
}

func (q query) votes() votes {
	v := votes{got: make([]int, len(q.cover))}
	for _, t := range q.terms {
		v.all += t.weight
		n := bits.OnesCount64(t.in)
		if n == 0 {
			continue
		}
		v.given += t.weight
		for in := t.in; in != 0; in &= in - 1 {
			v.got[bits.TrailingZeros64(in)] += t.weight * one / n
		}
	}
	return v
}

// share returns a cluster's share of the votes, from 0 to 1 in 256ths.
func (v votes) share(at int) int { return v.got[at] / max(v.given, 1) }

// none returns the share of the weight that no cluster has, from 0 to 1 in 256ths.
func (v votes) none() int { return (v.all - v.given) * one / max(v.all, 1) }
