package score

// Place decides which cluster a unit joins; joined is false if it opens a new one. ahead holds the
// known later messages of the same conversation, in order. threshold is the probability from which
// joining beats opening: 0 always joins if there is a cluster, 1 always opens. Place changes
// nothing. The same arguments give the same decision on every platform.
func (c *Candidates) Place(
	messages, ahead []Features, threshold float64,
) (number uint64, joined bool) {
	if len(messages) == 0 || len(c.clusters) == 0 {
		return 0, false
	}
	s := c.scene(messages, ahead)
	if s.meeting(ahead) {
		return s.conv.cluster, s.stay(len(ahead)) >= logit(threshold)
	}
	best, at := 0, -1
	for i := range c.clusters {
		if score := s.join(i).score(); at < 0 || score > best {
			best, at = score, i
		}
	}
	if best-s.open().score() < logit(threshold) {
		return 0, false
	}
	return c.clusters[at].number, true
}

// vector holds the value of every sign, in 256ths.
type vector [numSigns]int

// score returns the weighted sum of the signs, in 256ths.
func (x vector) score() int {
	sum := 0
	for i, w := range weights {
		sum += w * x[i]
	}
	return sum / one
}
