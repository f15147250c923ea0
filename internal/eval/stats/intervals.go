package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
)

// Wilson returns the 95 % interval of the share hits/n (Wilson 1927). It is 0 to 1 if n is 0.
func Wilson(hits, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054 // of the normal distribution, two-sided 5 %
	size := float64(n)
	p := float64(hits) / size
	square := z * z
	center := p + square/(2*size)
	spread := z * math.Sqrt((float64(p*(1-p))+square/(4*size))/size)
	scale := 1 + square/size
	low, high = (center-float64(spread))/scale, (center+float64(spread))/scale
	return max(0, low), min(1, high)
}

// McNemar returns the two-sided exact p of McNemar's test (McNemar 1947, binomial) of two ways to
// answer the same questions. better is the number of questions that only the first way answers,
// worse that of the questions that only the second one answers. If they are equal, p is 1.
func McNemar(better, worse int) float64 {
	n := better + worse
	sum, term := new(big.Int), new(big.Int)
	for i := 0; i <= min(better, worse); i++ {
		sum.Add(sum, term.Binomial(int64(n), int64(i)))
	}
	p := new(big.Rat).SetFrac(sum.Lsh(sum, 1), new(big.Int).Lsh(big.NewInt(1), uint(n)))
	f, _ := p.Float64()
	return min(1, f)
}

// resamples is the number of samples that Bootstrap draws. With another seed the ends of an
// interval then move by one or two thousandths at most.
const resamples = 2000

// Bootstrap returns the 95 % interval of the mean of values, by drawing samples with replacement
// (Efron 1979).
func Bootstrap(values []float64, seed uint64) (low, high float64) {
	if len(values) == 0 {
		return 0, 0
	}
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)) // the golden ratio: any constant would do
	means := make([]float64, resamples)
	for i := range means {
		for range values {
			means[i] += values[r.IntN(len(values))]
		}
		means[i] /= float64(len(values))
	}
	slices.Sort(means)
	return means[resamples/40], means[resamples-1-resamples/40]
}
