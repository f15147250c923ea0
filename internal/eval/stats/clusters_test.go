package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestClusterMetrics(t *testing.T) {
	log2 := math.Log2
	for _, c := range []struct {
		name          string
		gold, pred    []int
		bcubed, exact PRF
		oneToOne, vi  float64
		ari           float64
	}{
		{
			name: "the same, under other names", gold: []int{0, 0, 1, 1, 2},
			pred:   []int{7, 7, 3, 3, 9},
			bcubed: PRF{1, 1, 1}, exact: PRF{1, 1, 1}, oneToOne: 1, vi: 1, ari: 1,
		},
		{
			// Each of two and two: half of those with it belong there.
			name: "all in one", gold: []int{0, 0, 1, 1}, pred: []int{0, 0, 0, 0},
			bcubed: PRF{0.5, 1, 2.0 / 3}, exact: PRF{0, 0, 0}, oneToOne: 0.5, vi: 0.5, ari: 0,
		},
		{
			name: "all alone", gold: []int{0, 0, 1, 1}, pred: []int{0, 1, 2, 3},
			bcubed: PRF{1, 0.5, 2.0 / 3}, exact: PRF{0, 0, 0}, oneToOne: 0.5, vi: 0.5, ari: 0,
		},
		{
			// Gold {a b c}{d e}, predicted {a b}{c d e}. B-cubed precision: a, b 1; c 1/3; d, e 2/3: 11/15;
			// recall: a, b 2/3; c 1/3; d, e 1: 11/15. One to one 2+2 of 5. VI: 3/5 h(1/3) twice, h(1/3) =
			// log2 3 - 2/3. Rand: 4, 4 and 2 pairs of 10, chance 1.6.
			name: "one in the wrong place", gold: []int{0, 0, 0, 1, 1}, pred: []int{0, 0, 1, 1, 1},
			bcubed: PRF{11.0 / 15, 11.0 / 15, 11.0 / 15}, exact: PRF{0, 0, 0}, oneToOne: 0.8,
			vi: 1 - 1.2*(log2(3)-2.0/3)/log2(5), ari: (2 - 1.6) / (4 - 1.6),
		},
		{
			// Singletons do not count for the exact match: one of two predicted, one of three gold clusters.
			name: "exact match", gold: []int{0, 0, 1, 1, 2, 2, 3}, pred: []int{0, 0, 1, 2, 3, 3, 3},
			bcubed: PRF{(2 + 1 + 1 + 4.0/3 + 1.0/3) / 7, (2 + 0.5 + 0.5 + 2 + 1) / 7, 0},
			exact:  PRF{0.5, 1.0 / 3, 0.4}, oneToOne: 5.0 / 7, vi: -1, ari: -1,
		},
	} {
		b := BCubed(c.gold, c.pred)
		if !near(b.P, c.bcubed.P) || !near(b.R, c.bcubed.R) ||
			c.bcubed.F > 0 && !near(b.F, c.bcubed.F) {
			t.Errorf("%s: B-cubed %v, not %v", c.name, b, c.bcubed)
		}
		if e := ExactMatch(c.gold, c.pred); !near(e.P, c.exact.P) || !near(e.R, c.exact.R) ||
			!near(e.F, c.exact.F) {
			t.Errorf("%s: exact match %v, not %v", c.name, e, c.exact)
		}
		if v := OneToOne(c.gold, c.pred); !near(v, c.oneToOne) {
			t.Errorf("%s: one to one %v, not %v", c.name, v, c.oneToOne)
		}
		if v := ScaledVI(c.gold, c.pred); c.vi >= 0 && !near(v, c.vi) {
			t.Errorf("%s: VI %v, not %v", c.name, v, c.vi)
		}
		if v := ARI(c.gold, c.pred); c.ari >= 0 && !near(v, c.ari) {
			t.Errorf("%s: ARI %v, not %v", c.name, v, c.ari)
		}
	}
}

func TestClusterMetricsOfNothing(t *testing.T) {
	one := []int{4}
	if BCubed(nil, nil) != (PRF{}) || OneToOne(nil, nil) != 0 || ScaledVI(nil, nil) != 1 ||
		ARI(nil, nil) != 1 || ExactMatch(nil, nil) != (PRF{}) {
		t.Error("nothing is measured as something")
	}
	if BCubed(one, one).F != 1 || OneToOne(one, one) != 1 || ScaledVI(one, one) != 1 ||
		ARI(one, one) != 1 {
		t.Error("a single message is not clustered perfectly")
	}
}

// The best pairing is found: against every permutation of small tables.
func TestCheapestIsCheapest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		rows := 1 + r.IntN(4)
		cols := rows + r.IntN(3)
		cost := make([][]int, rows)
		for i := range cost {
			cost[i] = make([]int, cols)
			for j := range cost[i] {
				cost[i][j] = -r.IntN(9)
			}
		}
		if got, want := cheapest(cost), tryAll(cost, 0, make([]bool, cols)); got != want {
			t.Fatalf("%v: %d, not %d", cost, got, want)
		}
	}
}

func tryAll(cost [][]int, row int, used []bool) int {
	if row == len(cost) {
		return 0
	}
	best := 1 << 30
	for j := range used {
		if !used[j] {
			used[j] = true
			best = min(best, cost[row][j]+tryAll(cost, row+1, used))
			used[j] = false
		}
	}
	return best
}

func TestSegmentMetrics(t *testing.T) {
	gold := []int{0, 0, 0, 0, 1, 1, 1, 1} // two segments of four: k = 2
	for _, c := range []struct {
		name     string
		pred     []int
		edges    PRF
		pk, diff float64
	}{
		{"the same", []int{5, 5, 5, 5, 2, 2, 2, 2}, PRF{1, 1, 1}, 0, 0},
		// The boundary lies in 2 of 6 windows.
		{"none", make([]int, 8), PRF{0, 0, 0}, 2.0 / 6, 2.0 / 6},
		// All but those 2 windows are wrong for Pk; every window has another number of boundaries than 2.
		{"everywhere", []int{0, 1, 2, 3, 4, 5, 6, 7}, PRF{1.0 / 7, 1, 0.25}, 4.0 / 6, 1},
		// One too late: one window misses the true boundary, one has the false one.
		{"a near miss", []int{0, 0, 0, 0, 0, 1, 1, 1}, PRF{0, 0, 0}, 2.0 / 6, 2.0 / 6},
	} {
		if e := Boundaries(gold, c.pred); !near(e.P, c.edges.P) || !near(e.R, c.edges.R) ||
			!near(e.F, c.edges.F) {
			t.Errorf("%s: boundaries %v, not %v", c.name, e, c.edges)
		}
		if v := Pk(gold, c.pred); !near(v, c.pk) {
			t.Errorf("%s: Pk %v, not %v", c.name, v, c.pk)
		}
		if v := WindowDiff(gold, c.pred); !near(v, c.diff) {
			t.Errorf("%s: WindowDiff %v, not %v", c.name, v, c.diff)
		}
	}
	for _, c := range []struct {
		labels []int
		want   bool
	}{{gold, true}, {[]int{0, 1, 0, 1, 2}, true}, {[]int{0, 1, 0, 1, 0}, false}, {nil, false}} {
		if Contiguous(c.labels) != c.want {
			t.Errorf("%v: contiguous is not %v", c.labels, c.want)
		}
	}
}

func TestMilli(t *testing.T) {
	for f, want := range map[float64]string{0: "0.000", 1: "1.000", 0.7294: "0.729",
		0.7295: "0.730", -0.0421: "-0.042", 76.2333: "76.233"} {
		if got := MilliOf(f).String(); got != want {
			t.Errorf("%v prints as %s, not %s", f, got, want)
		}
	}
}
