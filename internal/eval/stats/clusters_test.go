package stats

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestBCubed(t *testing.T) {
	for _, c := range []struct {
		name       string
		gold, pred []int
		want       PRF
	}{
		{"nothing", nil, nil, PRF{}},
		{"a single message", []int{4}, []int{4}, PRF{1, 1, 1}},
		{"the same, under other names", []int{0, 0, 1, 1, 2}, []int{7, 7, 3, 3, 9}, PRF{1, 1, 1}},
		// Each of two and two: half of those with it belong there.
		{"all in one", []int{0, 0, 1, 1}, []int{0, 0, 0, 0}, PRF{0.5, 1, 2.0 / 3}},
		{"all alone", []int{0, 0, 1, 1}, []int{0, 1, 2, 3}, PRF{1, 0.5, 2.0 / 3}},
		// Gold {a b c}{d e}, predicted {a b}{c d e}. Precision: a, b 1; c 1/3; d, e 2/3: 11/15; recall:
		// a, b 2/3; c 1/3; d, e 1: 11/15.
		{"one in the wrong place", []int{0, 0, 0, 1, 1}, []int{0, 0, 1, 1, 1},
			PRF{11.0 / 15, 11.0 / 15, 11.0 / 15}},
		{"one cluster is the same", []int{0, 0, 1, 1, 2, 2, 3}, []int{0, 0, 1, 2, 3, 3, 3},
			prf((2+1+1+4.0/3+1.0/3)/7, (2+0.5+0.5+2+1)/7)},
	} {
		got := BCubed(c.gold, c.pred)
		if !near(got.P, c.want.P) || !near(got.R, c.want.R) || !near(got.F, c.want.F) {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
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
