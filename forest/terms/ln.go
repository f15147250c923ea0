package terms

import "math"

// ln returns the natural logarithm of x, which is finite and at least 1, to 15 digits or better. math.Log has its own
// assembly on some architectures and may be compiled with fused multiply-adds on others; this one gives the same bits on
// all of them.
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

// tf returns 1 + ln n. Most terms occur once or a few times; those are in a table.
func tf(n uint32) float64 {
	if n < uint32(len(smallTF)) {
		return smallTF[n]
	}
	return 1 + ln(float64(n))
}

// smallTF is 1 + ln n for small n; the entry for 0, which no bag has, is 0.
var smallTF = [...]float64{
	0, 1, 1.6931471805599454, 2.0986122886681096, 2.386294361119891, 2.6094379124341005, 2.791759469228055, 2.9459101490553135,
	3.0794415416798357, 3.197224577336219, 3.3025850929940455, 3.3978952727983702, 3.4849066497880004, 3.5649493574615367, 3.6390573296152584, 3.70805020110221,
}
