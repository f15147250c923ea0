package blame

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/blame/replay"
)

// slack is how much later than a commit a call may have been made whose work the commit has: git
// keeps whole seconds.
const slack = 2 * time.Second

// telling is the number of letters from which on it counts which commit git names for a line. With
// -w git takes the brace of a new block for the old one beside it.
const telling = 10

// Lines returns for each line of a text the call that wrote it; nil if none did. committed has a
// time for each line, or is nil: what was committed before a call was not written by it. calls are
// in the order of Reader.Calls.
//
// Each checkout of the project has a history of its own, since what was done in one is not in the
// other. A call in the checkout that was asked about counts first, then the oldest.
func Lines(q Query, calls []*Call, text string, committed []time.Time) []*Call {
	checkouts := map[string][]int{}
	for i, c := range calls {
		root := cmp.Or(c.Checkout, q.Project.Root)
		checkouts[root] = append(checkouts[root], i)
	}
	turns := map[turnKey]int{}
	lines := strings.Split(text, "\n")
	out := make([]*Call, len(replay.Lines(nil, text)))
	for _, root := range slices.Sorted(maps.Keys(checkouts)) {
		var steps []replay.Step
		for _, i := range checkouts[root] {
			c := calls[i]
			key := turnKey{c.Header.Session, c.turn}
			if turns[key] == 0 {
				turns[key] = len(turns) + 1
			}
			for j, change := range c.Changes {
				step := replay.Step{Change: change, By: i, Turn: turns[key]}
				if j == 0 {
					step.Before = c.before
				}
				steps = append(steps, step)
			}
		}
		for i, n := range replay.Lines(steps, text) {
			if n == replay.Nobody {
				continue
			}
			c := calls[n]
			if i < len(committed) && !committed[i].IsZero() &&
				replay.Letters(lines[i]) >= telling &&
				c.Header.Time.After(committed[i].Add(slack)) {
				continue
			}
			if out[i] == nil || root == q.Project.Root ||
				out[i].Checkout != q.Project.Root && c.Header.Time.Before(out[i].Header.Time) {
				out[i] = c
			}
		}
	}
	return out
}

type turnKey struct {
	session string
	turn    int
}
