package fsck

import (
	"github.com/gemini-ctx/ctx/format"
)

// markJoin marks what a join on a branch's line brought, as far as it is up to the frontier.
func (f *checker) markJoin(tip, join uint32, frontier uint64) {
	g := f.graph
	came := g.Brought(join)
	if g.Objects[join].Seq <= frontier {
		for _, i := range came {
			g.Marks[i] |= due
		}
		return
	}
	before := uint64(0)
	if up := g.ParentsOf(join); len(up) > 0 {
		before = g.Objects[up[0].To()].Seq
	}
	if before >= frontier || len(came) == 0 {
		return
	}
	// The frontier is amid what it brought: the order decides.
	upTo := map[format.ID]bool{}
	_ = f.s.History.EachBack(g.Objects[tip].ID, func(id format.ID, e *format.Entry) bool {
		upTo[id] = e.Seq <= frontier
		return e.Seq > before
	}) // what cannot be read is told elsewhere
	for _, i := range came {
		if upTo[g.Objects[i].ID] {
			g.Marks[i] |= due
		}
	}
}
