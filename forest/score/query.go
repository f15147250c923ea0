package score

// query is a bag with the weight of each term, to compare clusters with.
type query []weighted

type weighted struct {
	key    uint32
	weight int // rarity times the logarithm of its count, in 256ths
	square int // of that
}

// query weighs the terms of a bag.
func (f *frequencies) query(b bag) query {
	q := make(query, len(b))
	for i, c := range b {
		w := f.rarity(c.key) * (one + lg(int(c.n))) / one
		q[i] = weighted{key: c.key, weight: w, square: w * w}
	}
	return q
}

// marks returns what of the query is marks.
func (q query) marks() query {
	var m query
	for _, t := range q {
		if t.key&mark != 0 {
			m = append(m, t)
		}
	}
	return m
}

// like says how alike the query and a cluster are, from 0 to 1 in 256ths: the share of the query's weight that the cluster has, as a cosine would
// have it if the query were its only terms, times a factor for long clusters.
func (q query) like(k *cluster) int {
	shared, all := 0, 0
	for _, t := range q {
		all += t.square
		if k.count(t.key) > 0 {
			shared += t.square
		}
	}
	if all == 0 {
		return 0
	}
	return shared * one / all * 4 * one / (4*one + lg(len(k.terms)+1)/2)
}
