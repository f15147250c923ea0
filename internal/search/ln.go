package search

import "math"

// Ln returns the natural logarithm of x, which must be finite and above 0. Its result is the
// same to the bit on all architectures; math.Log has assembly on some of them, and others may
// compile it with fused multiply-adds.
func Ln(x float64) float64 {
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
