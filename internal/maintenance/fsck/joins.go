package fsck

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
)

// markJoin marks the messages up to the frontier that a join on a branch's line brought.
func (f *checker) markJoin(tip, join uint32, frontier uint64) {
	g := f.graph
	came := g.Brought(join)
	if g.Seq(join) <= frontier {
		for _, i := range came {
			g.Marks[i] |= due
		}
		return
	}
	before := uint64(0)
	if up := g.ParentsOf(join); len(up) > 0 {
		before = g.Seq(up[0].To())
	}
	if before >= frontier || len(came) == 0 {
		return
	}
	// The frontier is among the messages that the join brought: their order decides.
	upTo := map[format.ID]bool{}
	for e, err := range f.s.History.Walk(g.ID(tip), history.WithJoined) {
		if err != nil {
			break // fsck reports the entry elsewhere
		}
		upTo[e.ID] = e.Seq <= frontier
		if e.Seq <= before {
			break
		}
	}
	for _, i := range came {
		if upTo[g.ID(i)] {
			g.Marks[i] |= due
		}
	}
}
