package score

import "slices"

const (
	minute     = 60 // seconds
	manyPauses = 8  // pauses that are enough to tell a pace
)

// beat returns the number of seconds that count as one minute. It is 60 in quick talk and more
// where messages are hours apart, as in comments on an issue, where a silent day ends no topic. It
// is twice the pause that three in four pauses exceed, among the messages ahead, or in the past if
// few are ahead.
func beat(v *conversation, f Features, ahead []Features) int {
	pauses := make([]int, 0, 32)
	last := f.time
	for _, m := range ahead {
		if m.time > 0 && last > 0 {
			pauses = append(pauses, int(max(m.time-last, 0)))
		}
		last = max(last, m.time)
	}
	pace := 0
	switch {
	case len(pauses) >= manyPauses:
		slices.Sort(pauses)
		pace = pauses[len(pauses)/4]
	case v != nil:
		pace = 1 << min(v.pace/one, 30)
	}
	return max(minute, 2*pace)
}
