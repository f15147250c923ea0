package stats

// If topics follow one another, a clustering is also a segmentation. A segment begins at each
// message that is in another cluster than the message before it.

// boundaries reports for each message but the first whether it begins a segment.
func boundaries(labels []int) []bool {
	out := make([]bool, max(0, len(labels)-1))
	for i := range out {
		out[i] = labels[i] != labels[i+1]
	}
	return out
}

// Boundaries compares the messages at which segments begin.
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

// window returns the width of the windows of Pk and WindowDiff: half the mean length of a gold
// segment, rounded, and at least 1.
func window(gold []int) int {
	segments := count(boundaries(gold)) + 1
	return max(1, (len(gold)+segments)/(2*segments))
}

// Pk is the share of pairs of messages at a distance k that are in one segment in one segmentation
// and in two in the other (Beeferman et al. 1999). k is half the mean gold segment. 0 is the best
// value, and that of conversations without such a pair.
func Pk(gold, pred []int) float64 {
	return windowed(gold, pred, func(g, p int) bool { return (g == 0) != (p == 0) })
}

// WindowDiff is the share of windows of k messages in which the numbers of boundaries differ
// (Pevzner and Hearst 2002). 0 is the best value.
func WindowDiff(gold, pred []int) float64 {
	return windowed(gold, pred, func(g, p int) bool { return g != p })
}

// windowed returns the share of windows whose numbers of boundaries are wrong.
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
