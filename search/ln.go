package search

import "math"

// ln returns the natural logarithm of x, which is finite and at least 1. math.Log has its own assembly on some architectures and may be compiled
// with fused multiply-adds on others; this one gives the same bits on all of them.
func ln(x float64) float64 {
	const ln2 = 0.693147180559945309417232121458176568
	frac, exp := math.Frexp(x) // x = frac · 2^exp with frac in [0.5, 1)
	if frac < math.Sqrt2/2 {
		frac, exp = 2*frac, exp-1
	}
	s := (frac - 1) / (frac + 1) // ln frac = 2 (s + s³/3 + s⁵/5 + …), |s| < 0.172
	square, power, sum := float64(s*s), s, 0.0
	for k := 1; k <= 21; k += 2 {
		sum += power / float64(k)
		power = float64(power * square)
	}
	return float64(2*sum) + float64(float64(exp)*ln2)
}
