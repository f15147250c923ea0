package score

import "math/bits"

// one is 1 in the fixed-point numbers of this package, which are integers that count 256ths. All
// decisions are computed in them, so that they are the same on every platform.
const one = 1 << 8

// lg returns log2(x) in 256ths, and 0 for x <= 0. It is exact at the powers of two and linear
// between them, so at most 0.09 too small.
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

// logit returns ln(p / (1 - p)) in 256ths for p from 0 to 1. Near 0 and 1 the result is beyond
// every score.
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
