package score

import "slices"

const (
	minute     = 60 // seconds
	manyPauses = 8  // that tell a pace
)

// beat returns how many seconds count as a minute does in quick talk: more where messages are hours apart, as in comments on an issue, where a day's
// silence ends nothing. It goes by the pause that three in four of those ahead are longer than, or by that of the past where little is ahead.
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
