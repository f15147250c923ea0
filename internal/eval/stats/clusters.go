// Package stats compares clusterings and computes intervals. Its results are the same on every
// platform.
//
// A clustering is a slice of labels, one for each message. Messages with the same label are in one
// cluster; the value and the order of labels mean nothing.
package stats

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/internal/search"
)

// PRF is precision, recall and their harmonic mean, from 0 to 1.
type PRF struct{ P, R, F float64 }

// Plus returns the sums of the values of v and w.
func (v PRF) Plus(w PRF) PRF { return PRF{v.P + w.P, v.R + w.R, v.F + w.F} }

func prf(p, r float64) PRF {
	f := 0.0
	if p+r > 0 {
		f = float64(2*p*r) / (p + r)
	}
	return PRF{p, r, f}
}

// table has the sizes of the gold and of the predicted clusters, and of their overlaps.
type table struct {
	n          int
	gold, pred []int  // sizes, by the order of first mention
	cells      []cell // the overlaps that are not empty, by gold, then pred
}

type cell struct{ gold, pred, n int }

func tableOf(gold, pred []int) *table {
	t := &table{n: len(gold)}
	g, p := Number(gold), Number(pred)
	count := map[[2]int]int{}
	for i := range g {
		for len(t.gold) <= g[i] {
			t.gold = append(t.gold, 0)
		}
		for len(t.pred) <= p[i] {
			t.pred = append(t.pred, 0)
		}
		t.gold[g[i]]++
		t.pred[p[i]]++
		count[[2]int{g[i], p[i]}]++
	}
	for at, n := range count {
		t.cells = append(t.cells, cell{at[0], at[1], n})
	}
	slices.SortFunc(t.cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.gold, b.gold), cmp.Compare(a.pred, b.pred))
	})
	return t
}

// Number renames labels to 0, 1, 2… in the order of their first mention.
func Number(labels []int) []int {
	names := map[int]int{}
	out := make([]int, len(labels))
	for i, l := range labels {
		n, ok := names[l]
		if !ok {
			n = len(names)
			names[l] = n
		}
		out[i] = n
	}
	return out
}

// BCubed is the B-cubed measure (Bagga and Baldwin 1998), the mean over all messages. The precision
// of a message is the share of its predicted cluster that is in its gold cluster. Its recall is the
// share of its gold cluster that is in its predicted cluster.
func BCubed(gold, pred []int) PRF {
	t := tableOf(gold, pred)
	if t.n == 0 {
		return PRF{}
	}
	p, r := 0.0, 0.0
	for _, c := range t.cells {
		both := float64(c.n * c.n)
		p += both / float64(t.pred[c.pred])
		r += both / float64(t.gold[c.gold])
	}
	return prf(p/float64(t.n), r/float64(t.n))
}

// ScaledVI is 1 - VI/log2 n, where VI is the variation of information between the two clusterings
// and log2 n its maximum. For a single message it is 1.
func ScaledVI(gold, pred []int) float64 {
	t := tableOf(gold, pred)
	if t.n < 2 {
		return 1
	}
	vi := 0.0
	for _, c := range t.cells {
		n := float64(c.n)
		apart := search.Ln(float64(t.gold[c.gold])/n) + search.Ln(float64(t.pred[c.pred])/n)
		vi += float64(n / float64(t.n) * apart)
	}
	return 1 - vi/search.Ln(float64(t.n))
}

// ARI is the adjusted Rand index (Hubert and Arabie 1985): 1 for equal clusterings, about 0 for
// chance.
func ARI(gold, pred []int) float64 {
	t := tableOf(gold, pred)
	pairs := func(n int) float64 { return float64(n) * float64(n-1) / 2 }
	both, g, p := 0.0, 0.0, 0.0
	for _, c := range t.cells {
		both += pairs(c.n)
	}
	for _, n := range t.gold {
		g += pairs(n)
	}
	for _, n := range t.pred {
		p += pairs(n)
	}
	all := pairs(t.n)
	if all == 0 {
		return 1
	}
	chance := float64(g * p / all)
	most := (g + p) / 2
	if most == chance {
		return 1 // both are all in one, or both all alone
	}
	return (both - chance) / (most - chance)
}

// ExactMatch counts the clusters of more than one message that are the same in both clusterings.
// Its precision is their share of the predicted clusters, its recall that of the gold clusters
// (Kummerfeld et al. 2019).
func ExactMatch(gold, pred []int) PRF {
	t := tableOf(gold, pred)
	big := func(sizes []int) int {
		n := 0
		for _, size := range sizes {
			if size > 1 {
				n++
			}
		}
		return n
	}
	same := 0
	for _, c := range t.cells {
		if c.n > 1 && c.n == t.gold[c.gold] && c.n == t.pred[c.pred] {
			same++
		}
	}
	return prf(Share(same, big(t.pred)), Share(same, big(t.gold)))
}

// OneToOne is the share of messages in the overlaps of the best pairing of gold with predicted
// clusters, in which each cluster has at most one partner (Elsner and Charniak 2008).
func OneToOne(gold, pred []int) float64 {
	t := tableOf(gold, pred)
	rows, cols := len(t.gold), len(t.pred)
	if t.n == 0 {
		return 0
	}
	flip := rows > cols
	if flip {
		rows, cols = cols, rows
	}
	cost := make([][]int, rows)
	for i := range cost {
		cost[i] = make([]int, cols)
	}
	for _, c := range t.cells {
		if flip {
			cost[c.pred][c.gold] = -c.n
		} else {
			cost[c.gold][c.pred] = -c.n
		}
	}
	return Share(-cheapest(cost), t.n)
}

// cheapest returns the lowest cost of assigning each row to a column of its own, by the Hungarian
// method with potentials. There may not be more rows than columns. It takes rows² · columns steps.
func cheapest(cost [][]int) int {
	const far = 1 << 60
	n, m := len(cost), len(cost[0])
	u, v := make([]int, n+1), make([]int, m+1)
	match, way := make([]int, m+1), make([]int, m+1)
	for i := 1; i <= n; i++ {
		match[0] = i
		least, used := make([]int, m+1), make([]bool, m+1)
		for j := range least {
			least[j] = far
		}
		at := 0
		for match[at] != 0 {
			used[at] = true
			row, delta, next := match[at], far, 0
			for j := 1; j <= m; j++ {
				if used[j] {
					continue
				}
				if now := cost[row-1][j-1] - u[row] - v[j]; now < least[j] {
					least[j], way[j] = now, at
				}
				if least[j] < delta {
					delta, next = least[j], j
				}
			}
			for j := range used {
				if used[j] {
					u[match[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			match[at] = match[way[at]]
			at = way[at]
		}
	}
	return -v[0]
}
