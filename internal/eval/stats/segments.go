package stats

// Where topics follow one another, a clustering is also a segmentation: there is a boundary
// wherever a message is of another cluster than the one before it.

// boundaries says of each message but the first whether it begins a segment.
func boundaries(labels []int) []bool {
	out := make([]bool, max(0, len(labels)-1))
	for i := range out {
		out[i] = labels[i] != labels[i+1]
	}
	return out
}

// Boundaries compares where segments begin, to the message.
func Boundaries(gold, pred []int) PRF {
	g, p := boundaries(gold), boundaries(pred)
	both := 0
	for i := range g {
		if g[i] && p[i] {
			both++
		}
	}
	return prf(Share(both, count(p)), Share(both, count(g)))
}

func count(list []bool) int {
	n := 0
	for _, v := range list {
		if v {
			n++
		}
	}
	return n
}

// Contiguous reports whether topics follow one another more than they mix: there are at most twice
// as many runs as topics.
func Contiguous(gold []int) bool {
	names := map[int]bool{}
	for _, l := range gold {
		names[l] = true
	}
	return len(gold) > 0 && count(boundaries(gold))+1 <= 2*len(names)
}

// window is half the mean length of a gold segment, rounded, at least 1: the width that Pk and
// WindowDiff look through.
func window(gold []int) int {
	segments := count(boundaries(gold)) + 1
	return max(1, (len(gold)+segments)/(2*segments))
}

// Pk is how often two messages k apart are in one segment for one side and in two for the other
// (Beeferman et al. 1999); k is half the mean gold segment. 0 is best. Conversations no longer than
// k have no such pair: 0.
func Pk(gold, pred []int) float64 {
	return windowed(gold, pred, func(g, p int) bool { return (g == 0) != (p == 0) })
}

// WindowDiff is how often the number of boundaries within a window of k messages differs (Pevzner
// and Hearst 2002). 0 is best.
func WindowDiff(gold, pred []int) float64 {
	return windowed(gold, pred, func(g, p int) bool { return g != p })
}

// windowed is the share of windows in which the numbers of boundaries are wrong.
func windowed(gold, pred []int, wrong func(g, p int) bool) float64 {
	k := window(gold)
	g, p := boundaries(gold), boundaries(pred)
	bad, all := 0, 0
	for i := 0; i+k <= len(g); i++ {
		all++
		if wrong(count(g[i:i+k]), count(p[i:i+k])) {
			bad++
		}
	}
	return Share(bad, all)
}
