package stats

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/search"
)

func TestMcNemar(t *testing.T) {
	// Twice the tail of a fair coin: 0 of 5 is 2/32; 1 of 5 is 2·6/32; 10 and 30 of 40 is known from
	// tables.
	for _, c := range []struct {
		better, worse int
		want          float64
	}{{0, 0, 1}, {3, 3, 1}, {0, 5, 0.0625}, {5, 0, 0.0625}, {1, 4, 0.375}, {10, 30, 0.0022214},
		{0, 1000, 0}} {
		if got := McNemar(c.better, c.worse); got < c.want-1e-6 || got > c.want+1e-6 {
			t.Errorf("%d against %d: %v, not %v", c.better, c.worse, got, c.want)
		}
	}
}

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.277533}, {10, 10, 0.722467, 1}, {5, 10, 0.236593, 0.763407},
		{81, 263, 0.255286, 0.366200}} {
		low, high := Wilson(c.hits, c.n)
		if low < c.low-1e-5 || low > c.low+1e-5 || high < c.high-1e-5 || high > c.high+1e-5 {
			t.Errorf("%d of %d: %v to %v, not %v to %v", c.hits, c.n, low, high, c.low, c.high)
		}
	}
}

func TestLn(t *testing.T) {
	for x, want := range map[float64]float64{1: 0, 2: 0.6931471805599453, 0.5: -0.6931471805599453,
		10: 2.302585092994046, 1e9: 20.72326583694641} {
		if got := search.Ln(x); got < want-1e-12 || got > want+1e-12 {
			t.Errorf("ln %v is %v, not %v", x, got, want)
		}
	}
}

func TestBootstrap(t *testing.T) {
	if low, high := Bootstrap([]float64{0.4}, 1); low != 0.4 || high != 0.4 {
		t.Error(low, high)
	}
	if low, high := Bootstrap(nil, 1); low != 0 || high != 0 {
		t.Error(low, high)
	}
	// Of two values, a quarter of all draws is twice the first and a quarter twice the second.
	if low, high := Bootstrap([]float64{0, 1}, 1); low != 0 || high != 1 {
		t.Error(low, high)
	}
	var many []float64
	for i := range 400 {
		many = append(many, float64(i%2))
	}
	low, high := Bootstrap(many, 7)
	if again, _ := Bootstrap(many, 7); again != low || low < 0.44 || low > 0.46 ||
		high < 0.54 || high > 0.56 {
		t.Error(low, high, again) // 0.5 ± 1.96 · 0.5/20
	}
}
