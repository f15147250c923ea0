package score

import "math/bits"

// one is 1 in the fixed-point numbers of this package: integers that count 256ths. All that decides is computed in them, so that a decision is the
// same on every platform.
const one = 1 << 8

// lg returns the logarithm of x to base 2 in 256ths, 0 for 0, exact at the powers of two and linear between them: at most 0.09 too small.
func lg(x int) int {
	if x <= 0 {
		return 0
	}
	exp := bits.Len(uint(x)) - 1
	frac := x - 1<<exp // below 2^exp
	if exp > 8 {
		frac >>= exp - 8
	} else {
		frac <<= 8 - exp
	}
	return exp*one + frac
}

// logit returns ln(p / (1 - p)) in 256ths for a share of 0 to 1; what is as good as 0 or 1 is as far from 0 as no score comes.
func logit(p float64) int {
	const scale, far = 1 << 20, 1 << 30
	n := int(p * scale)
	switch {
	case !(p > 0) || n <= 0:
		return -far
	case n >= scale:
		return far
	}
	return (lg(n) - lg(scale-n)) * 177 / one // ln 2 is 177.4 256ths
}
