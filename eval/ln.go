package eval

import "math"

// ln returns the natural logarithm of x > 0 with the same bits on every platform: math.Log has its own assembly on some and may be compiled
// with fused multiply-adds on others, and what is printed here must not depend on that.
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
